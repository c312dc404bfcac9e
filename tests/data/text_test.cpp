#include "obolus/data/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "data/checksum.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/data/fixture.hpp"

namespace {

using namespace obolus;
using test::fixture;
using test::to_latin1;
using test::tokenised;

using Words = std::vector<std::string>;

Words utf8(std::string_view text) { return words(text, Encoding::utf8); }
Words latin1(std::string_view text) { return words(text, Encoding::latin1); }

std::string encoded(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

TEST(TextTest, FindsTheWordsThatPythonFinds) {
  for (const auto& [text, expected] : fixture()["words"].get<std::vector<std::pair<std::string, Words>>>())
    EXPECT_EQ(utf8(text), expected) << text;
}

TEST(TextTest, Latin1IsReadAsTheSameTextInUtf8) {
  for (const char* part : {"train", "test"})
    for (const std::string text : fixture()["documents"]["latin1"][part])
      EXPECT_EQ(latin1(to_latin1(text)), utf8(text)) << text;
  for (char32_t c = 0; c < 256; ++c) {
    const std::string text =
        std::string("a") + static_cast<char>(c) + "b " + static_cast<char>(c) + static_cast<char>(c);
    EXPECT_EQ(latin1(text), utf8("a" + encoded(c) + "b " + encoded(c) + encoded(c))) << static_cast<unsigned>(c);
  }
}

// The fixture's checksum is over the same texts, put through Python's str.lower and re.
TEST(TextTest, KnowsEveryCharacterOfUnicodeAsPythonDoes) {
  std::uint64_t sum = checksum(nullptr, 0);
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string c = encoded(code), sigma = "Σ";
    std::string found;
    for (const std::string& word :
         utf8("a" + c + "b A" + c + sigma + " " + c + sigma + " A" + c + sigma + c + "b " + c + c))
      found += (found.empty() ? "" : "\n") + word;
    found += "\n";
    sum = checksum(found.data(), found.size(), sum);
  }
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << sum;
  EXPECT_EQ(text.str(), fixture()["every_character"].get<std::string>());
}

TEST(TextTest, ASingleCharacterIsNoWordHoweverManyBytesItTakes) {
  EXPECT_EQ(utf8("a é € 𝐀 数 x1 éé"), (Words{"x1", "éé"}));
  EXPECT_EQ(latin1("a \xE9 \xE9\xE9"), (Words{"éé"}));
}

TEST(TextTest, WordsOfEveryLengthAreFoundWhereverTheyStand) {
  for (std::size_t before = 0; before < 20; ++before)
    for (std::size_t size = 2; size < 40; ++size) {
      const std::string word(size, 'w'), gap(before, ' ');
      EXPECT_EQ(utf8(gap + word), Words{word});
      EXPECT_EQ(latin1(gap + word + "\n" + word + gap), (Words{word, word}));
    }
}

TEST(TextTest, BytesThatAreNoUtf8SeparateWords) {
  for (const std::string bad : {"\x80", "\xC3", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80",
                                "\xFF", "\xF0\x82\x82\xAC"})
    EXPECT_EQ(utf8("ab" + bad + "cd"), (Words{"ab", "cd"})) << bad;
  EXPECT_EQ(utf8("ab\xE2\x82"), Words{"ab"}) << "cut at the end";
  EXPECT_EQ(utf8("A\x80Σ ΑΣ\xCE"), Words{"ας"}) << "broken bytes have no case";
}

TEST(TextTest, TermsAreSortedByCodePointAndRowsByTerm) {
  for (const std::string name : {"latin1", "utf8"}) {
    const TokenisedCorpus corpus = tokenised(name);
    EXPECT_TRUE(std::is_sorted(corpus.terms.begin(), corpus.terms.end()));
    for (const TokenisedCorpus::Part* part : {&corpus.train, &corpus.test}) {
      ASSERT_EQ(part->label.size(), to_size(part->documents()));
      for (std::int64_t d = 0; d < part->documents(); ++d)
        for (std::int64_t i = part->start[d] + 1; i < part->start[d + 1]; ++i)
          EXPECT_LT(part->term[i - 1], part->term[i]);
    }
  }
}

// Documents of random words, long and short, rare and frequent.
std::vector<std::string> random_documents(std::size_t n) {
  Rng rng(7);
  const auto below = [&](double m) { return to_size(rng.uniform() * m); };
  std::vector<std::string> documents(n);
  for (std::string& document : documents)
    for (std::size_t w = below(300); w-- > 0;) {
      const double u = rng.uniform();
      document += std::to_string(static_cast<std::int64_t>(1 / (u * u + 1e-12))) + (w % 3 == 0 ? "é-" : "x ");
    }
  return documents;
}

TEST(TextTest, CountsAsASlowMapDoes) {
  const std::vector<std::string> documents = random_documents(50);
  std::vector<Text> texts;
  for (const std::string& d : documents) texts.push_back({d, 0});
  const TokenisedCorpus corpus = tokenise(texts, {}, {"all"}, Encoding::utf8);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    std::map<std::string, int> expected, got;
    for (const std::string& word : utf8(documents[d])) ++expected[word];
    for (std::int64_t i = corpus.train.start[d]; i < corpus.train.start[d + 1]; ++i)
      got[corpus.terms[to_size(corpus.train.term[i])]] = corpus.train.count[i];
    EXPECT_EQ(got, expected);
  }
}

TEST(TextTest, TheNumberOfThreadsChangesNothing) {
  const std::vector<std::string> documents = random_documents(3000);
  std::vector<Text> train, test;
  for (std::size_t i = 0; i < documents.size(); ++i)
    (i % 3 ? train : test).push_back({documents[i], static_cast<std::int32_t>(i % 2)});
  const TokenisedCorpus one = tokenise(train, test, {"even", "odd"}, Encoding::utf8, 1);
  ASSERT_GT(one.terms.size(), 10'000u) << "the table has to grow";
  for (const int threads : {2, 3, 8}) EXPECT_EQ(tokenise(train, test, {"even", "odd"}, Encoding::utf8, threads), one);
}

TEST(TextTest, LabelsBeyondTheClassesAreRefused) {
  for (const std::int32_t label : {-1, 2}) {
    const std::vector<Text> texts{{"one two", 0}, {"three", label}};
    EXPECT_THROW((void)tokenise(texts, {}, {"a", "b"}, Encoding::utf8, 2), DataError);
  }
}

TEST(TextTest, NothingIsACorpusToo) {
  const TokenisedCorpus corpus = tokenise({}, {}, {}, Encoding::utf8, 2);
  EXPECT_TRUE(corpus.terms.empty());
  EXPECT_EQ(corpus.train.documents(), 0);
}

}  // namespace
