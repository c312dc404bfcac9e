#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "obolus/core/to_size.hpp"
#include "rows.hpp"

namespace {

using namespace obolus;

// The digits as they look; a segment is lit where its character stands.
constexpr std::array<std::string_view, 10> glyphs{
    " _ "
    "| |"
    "|_|",
    "   "
    "  |"
    "  |",
    " _ "
    " _|"
    "|_ ",
    " _ "
    " _|"
    " _|",
    "   "
    "|_|"
    "  |",
    " _ "
    "|_ "
    " _|",
    " _ "
    "|_ "
    "|_|",
    " _ "
    "  |"
    "  |",
    " _ "
    "|_|"
    "|_|",
    " _ "
    "|_|"
    " _|"};
constexpr std::array<std::size_t, 7> segment_at{1, 3, 5, 4, 6, 8, 7};

bool lit(int digit, std::size_t segment) { return glyphs[to_size(digit)][segment_at[segment]] != ' '; }

TEST(Led, WithoutNoiseTheSegmentsShowTheDigit) {
  const auto g = make_generator(LedOptions{.noise = 0.0, .irrelevant = false});
  ASSERT_EQ(g->columns().size(), 7U);
  for (std::int64_t i = 0; i < 500; ++i) {
    const GeneratedRow r = row_of(*g, i);
    for (std::size_t s = 0; s < 7; ++s) EXPECT_EQ(r.numbers[s] == 1.0F, lit(r.label, s)) << i;
  }
}

TEST(Led, DigitsAreAlikeFrequentSegmentsInvertedByNoiseAndOtherBitsFair) {
  constexpr std::int64_t n = 50000;
  const auto g = make_generator(LedOptions{.noise = 0.2});
  std::array<double, 10> digit{};
  std::array<double, 24> odd{};
  for (std::int64_t i = 0; i < n; ++i) {
    const GeneratedRow r = row_of(*g, i);
    digit[to_size(r.label)] += 1.0 / n;
    for (std::size_t j = 0; j < 24; ++j) odd[j] += ((r.numbers[j] == 1.0F) != (j < 7 && lit(r.label, j))) * (1.0 / n);
  }
  for (const double p : digit) EXPECT_NEAR(p, 0.1, hoeffding(n));
  for (std::size_t j = 0; j < 24; ++j) EXPECT_NEAR(odd[j], j < 7 ? 0.2 : 0.5, hoeffding(n)) << j;
}

TEST(Led, TheDriftMovesThatManySegmentsAmongTheIrrelevantBitsAndKeepsTheOthers) {
  for (std::int64_t drifting = 0; drifting <= 7; ++drifting) {
    const auto g =
        make_generator(LedOptions{.stream = {.drift_rows = Numbers(300.0)}, .noise = 0.0, .drifting = drifting});
    // A fair bit shows a segment in all of 300 rows with probability 2^-300.
    const auto columns_that_show = [&](std::size_t segment, std::int64_t first) {
      std::vector<std::size_t> shown;
      for (std::size_t j = 0; j < 24; ++j) {
        bool all = true;
        for (std::int64_t i = first; i < first + 300; ++i) {
          const GeneratedRow r = row_of(*g, i);
          all = all && (r.numbers[j] == 1.0F) == lit(r.label, segment);
        }
        if (all) shown.push_back(j);
      }
      return shown;
    };
    std::int64_t moved = 0;
    for (std::size_t s = 0; s < 7; ++s) {
      EXPECT_EQ(columns_that_show(s, 0), std::vector<std::size_t>{s});
      const auto now = columns_that_show(s, 300);
      ASSERT_EQ(now.size(), 1U);
      moved += now[0] >= 7;
      EXPECT_TRUE(now[0] == s || now[0] >= 7);
    }
    EXPECT_EQ(moved, drifting);
  }
}

}  // namespace
