#include "data/streams/stream_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "config/generator_settings.hpp"
#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

constexpr std::int64_t all = 1'000'000;

std::string written(StreamRows& rows, std::int64_t max = all, const LabelFaults& faults = {}) {
  std::string text;
  write_stream(rows, max, faults, [&](std::string_view block) { text += block; });
  return text;
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// ---- Labels ---------------------------------------------------------------------------------------------------------

TEST(LabelFaults, ASwapTurnsTheClassesRoundAndTheNextTurnsThemBack) {
  const LabelFaults faults{.swaps = {10, 20}};
  for (std::size_t label = 0; label < 5; ++label) {
    EXPECT_EQ(faulty_label(label, 5, 9, faults), label);
    EXPECT_EQ(faulty_label(label, 5, 10, faults), 4 - label);
    EXPECT_EQ(faulty_label(label, 5, 19, faults), 4 - label);
    EXPECT_EQ(faulty_label(label, 5, 20, faults), label);
  }
}

TEST(LabelFaults, NoiseBeginsAtItsRowAndTakesEveryOtherClassAlike) {
  const LabelFaults faults{.noise = 0.3, .noise_from = 100, .seed = 4};
  for (std::int64_t row = 0; row < 100; ++row) EXPECT_EQ(faulty_label(2, 4, row, faults), 2u);
  std::array<int, 4> seen{};
  constexpr int rows = 40'000;
  for (std::int64_t row = 100; row < 100 + rows; ++row) ++seen[faulty_label(2, 4, row, faults)];
  // Binomial, n = 40,000, p = 0.1: a standard deviation of 60; five of them.
  for (const std::size_t other : {0u, 1u, 3u}) EXPECT_NEAR(seen[other], 0.1 * rows, 300);
  EXPECT_EQ(faulty_label(0, 1, 5, {.noise = 1}), 0u) << "there is no other";
}

// ---- Sources --------------------------------------------------------------------------------------------------------

TokenisedCorpus small_corpus() {
  const std::array<Text, 3> train{{{"apple pear", 0}, {"pear plum", 1}, {"plum plum", 1}}};
  const std::array<Text, 2> test{{{"apple", 0}, {"unknown", 1}}};
  return tokenise(train, test, {"a", "b"}, Encoding::utf8);
}

TEST(NewsgroupsRows, TheDocumentsToTrainOnComeFirstAndIndicesCountFromOne) {
  const auto lines = lines_of(written(*newsgroups_rows(small_corpus(), 1, 1)));
  ASSERT_EQ(lines.size(), 5u);
  std::vector<std::string> train(lines.begin(), lines.begin() + 3), test(lines.begin() + 3, lines.end());
  std::sort(train.begin(), train.end());
  std::sort(test.begin(), test.end());
  // apple: idf ln(4/2) + 1 = 1.6931; pear and plum: ln(4/3) + 1 = 1.2877.
  EXPECT_EQ(train, (std::vector<std::string>{"1 1:0.79596 2:0.60535", "2 2:0.70711 3:0.70711", "2 3:1"}));
  EXPECT_EQ(test, (std::vector<std::string>{"1 1:1", "2"})) << "a document whose words are not known is a row";
}

TEST(NewsgroupsRows, TheSeedDecidesTheOrder) {
  std::map<std::string, int> orders;
  for (std::int64_t seed = 0; seed < 20; ++seed) {
    const std::string text = written(*newsgroups_rows(small_corpus(), seed, 1));
    EXPECT_EQ(text, written(*newsgroups_rows(small_corpus(), seed, 2)));
    ++orders[text];
  }
  EXPECT_GT(orders.size(), 3u);
}

Pictures two_classes() {
  Pictures pictures{1, 3, {}, {}};
  for (std::uint8_t i = 0; i < 10; ++i) {
    pictures.label.push_back(i < 5 ? 0 : 1);
    pictures.pixels.insert(pictures.pixels.end(), {static_cast<std::uint8_t>(i + 1), 0, 255});
  }
  return pictures;
}

TEST(PictureRows, WithoutPhasesEachPictureComesOnce) {
  auto lines = lines_of(written(*picture_rows(two_classes(), 2, {})));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_FALSE(std::is_sorted(lines.begin(), lines.end())) << "they are shuffled";
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(std::unique(lines.begin(), lines.end()), lines.end());
  EXPECT_EQ(lines.front(), "1 1:0.003922 3:1");
}

TEST(PictureRows, InPhasesTheProportionsChange) {
  constexpr std::int64_t rows = 6'000;
  bool first_rare = false, second_rare = false;
  for (std::int64_t seed = 1; seed <= 8; ++seed) {
    const auto lines =
        lines_of(written(*picture_rows(two_classes(), 2, {.rows = rows, .phases = 2, .seed = seed, .imbalance = 9})));
    ASSERT_EQ(lines.size(), std::size_t{rows});
    for (std::size_t phase = 0; phase < 2; ++phase) {
      const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(phase) * rows / 2;
      const auto ones = std::count_if(begin, begin + rows / 2, [](const std::string& l) { return l[0] == '1'; });
      // Binomial, n = 3,000, p = 0.9 or 0.1: a standard deviation of 16.4; five of them.
      EXPECT_NEAR(static_cast<double>(std::max(ones, rows / 2 - ones)), 0.9 * rows / 2, 82);
      (ones < rows / 4 ? first_rare : second_rare) = true;
    }
  }
  EXPECT_TRUE(first_rare && second_rare);
}

TEST(PictureRows, AClassWithoutPicturesCannotBeDrawn) {
  EXPECT_THROW((void)picture_rows(two_classes(), 3, {.rows = 5, .phases = 1}), DataError);
  EXPECT_THROW((void)picture_rows(two_classes(), 2, {.rows = 5, .phases = 1, .imbalance = 0.5}), ConfigError);
}

TEST(GeneratedRows, AreThoseOfWriteCsvButForTheFaults) {
  const auto options = generator_with("agrawal", {"seed=3", "drift_rows=[5,9]"});
  std::ostringstream expected;
  write_csv(*make_generator(options), 0, 20, expected);
  EXPECT_EQ(written(*generated_rows(options), 20), expected.str());
  const auto plain = lines_of(expected.str()),
             swapped = lines_of(written(*generated_rows(options), 20, {.swaps = {7}}));
  ASSERT_EQ(swapped.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(swapped[i] == plain[i], i < 8) << i;  // a head and 7 rows
}

TEST(GeneratedRows, SettingsAreThoseOfTheGeneratorAndNoOthers) {
  const auto refusal = [](const std::string& name, const std::vector<std::string>& settings) -> std::string {
    try {
      (void)generator_with(name, settings);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("sea", {"noise=0.2", "drift_rows=3"}), "accepted");
  EXPECT_TRUE(refusal("see", {}).starts_with("generator: got 'see', expected one of sea, ")) << refusal("see", {});
  EXPECT_EQ(refusal("sea", {"noise"}), "--set: got 'noise', expected KEY=VALUE");
  EXPECT_TRUE(refusal("sea", {"niose=1"}).starts_with("--set sea.niose=1: unknown key 'niose' in [sea]"));
  EXPECT_TRUE(refusal("sea", {"noise=2"}).starts_with("--set sea.noise=2: sea.noise: got 2, expected"));
}

TEST(VowpalWabbitLines, OnlyTheirLabelsChange) {
  const test::TemporaryFolder folder;
  folder.write("x.vw", "1 'a|t:0.5 one two:2\n2 'b|\n2 'c|t one");
  const auto open = [&] { return vowpal_wabbit_lines(folder.file("x.vw"), 2); };
  EXPECT_EQ(written(*open()), "1 'a|t:0.5 one two:2\n2 'b|\n2 'c|t one\n");
  EXPECT_EQ(written(*open(), all, {.swaps = {1}}), "1 'a|t:0.5 one two:2\n1 'b|\n1 'c|t one\n");
  EXPECT_EQ(written(*open(), 1), "1 'a|t:0.5 one two:2\n");
}

TEST(VowpalWabbitLines, LabelsThatAreNoneAreRefusedWithTheirPlace) {
  const test::TemporaryFolder folder;
  for (const char* line : {"3 |a\n", "0 |a\n", "one |a\n", "1|a\n", "-1 |a\n", "\n", "99999999999999999999 |a\n"}) {
    folder.write("x.vw", std::string("1 |a\n") + line);
    try {
      (void)written(*vowpal_wabbit_lines(folder.file("x.vw"), 2));
      ADD_FAILURE() << line;
    } catch (const DataError& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with(folder.file("x.vw") + ":2:1: got \"")) << e.what();
      EXPECT_TRUE(std::string(e.what()).ends_with("expected a label, 1 to 2")) << e.what();
    }
  }
  EXPECT_THROW((void)vowpal_wabbit_lines(folder.file("absent.vw"), 2), DataError);
}

}  // namespace
