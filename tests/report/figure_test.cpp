#include "report/figure.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "obolus/core/error.hpp"
#include "report/comparison_figure.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Figure, HasALineAndABandForEveryCurveAndOneLegendForAllPanels) {
  const Curve first{"one", {1, 2, 3}, {1, 2, 4}, {0.1, 0.1, 0.1}}, second{"two", {1, 2}, {3, 1}, {0, 0}};
  const std::string svg =
      Figure{{{{"left", "round", false, {first, second}}, {"right", "round", true, {second}}}}}.svg();
  EXPECT_EQ(count(svg, "<polyline"), 3u);
  EXPECT_EQ(count(svg, "<polygon"), 3u);
  EXPECT_EQ(count(svg, ">one</text>"), 1u);
  EXPECT_EQ(count(svg, ">two</text>"), 1u);
}

TEST(Figure, LeavesOutWhatHasNoPlace) {
  const Curve odd{"odd", {1, 2, 3, 4}, {nan, inf, 5, -1}, {0, 0, nan, 0}};
  const std::string svg = Figure{{{{"", "", true, {odd}}, {"", "", false, {Curve{"none", {1}, {nan}, {0}}}}}}}.svg();
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_EQ(count(svg, "inf"), 0u);
  EXPECT_EQ(count(svg, "<polyline"), 1u);
}

TEST(Figure, NamesCannotBreakOutOfTheirText) {
  const std::string svg = Figure{{{{"<script>", "a & b", false, {Curve{"\"><x onload=\"", {1}, {1}, {0}}}}}}}.svg();
  EXPECT_EQ(count(svg, "<script>"), 0u);
  EXPECT_EQ(count(svg, "<x onload"), 0u);
  EXPECT_EQ(count(svg, "a &amp; b"), 1u);
}

TEST(Figure, OfAFolderWithoutEvaluationsIsRefused) {
  const test::TemporaryFolder folder;
  folder.write("cells.jsonl", "");
  EXPECT_THROW((void)comparison_figure(folder.path(), {}), DataError);
  folder.write("cells.jsonl", "no JSON\n");
  EXPECT_THROW((void)comparison_figure(folder.path(), {}), DataError);
}

}  // namespace
