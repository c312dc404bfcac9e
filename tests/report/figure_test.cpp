#include "report/figure.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <regex>

#include "obolus/core/to_size.hpp"

namespace {

using namespace obolus;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Panel panel(std::vector<Curve> curves, bool log_y = false) { return {"round", "f", false, log_y, std::move(curves)}; }
std::string svg(std::vector<Panel> panels, double width = 170) {
  return Figure{"", width, {{"", std::move(panels)}}}.svg();
}

TEST(Figure, HasALineAndABandForEveryCurveAndOneLegendForAllPanels) {
  const Curve first{"one", "", {1, 2, 3}, {1, 2, 4}, {0.1, 0.1, 0.1}}, second{"two", "", {1, 2}, {3, 1}, {0.2, 0}};
  const std::string text = svg({panel({first, second}), panel({second}, true)});
  EXPECT_EQ(count(text, "<polyline"), 3u);
  EXPECT_EQ(count(text, "<polygon"), 3u);
  EXPECT_EQ(count(text, ">one</text>"), 1u);
  EXPECT_EQ(count(text, ">two</text>"), 1u);
}

TEST(Figure, HasNoBandWhereNothingDeviates) {
  EXPECT_EQ(count(svg({panel({{"one", "", {1, 2}, {1, 2}, {0, 0}}})}), "<polygon"), 0u);
}

TEST(Figure, HasALegendForEveryRowWhereCurvesHaveNotes) {
  const Curve a{"one", "slope 0.50", {1, 2}, {1, 2}, {0, 0}}, b{"one", "slope 1.00", {1, 2}, {1, 3}, {0, 0}};
  const std::string text = Figure{"", 170, {{"first", {panel({a})}}, {"second", {panel({b})}}}}.svg();
  EXPECT_EQ(count(text, ">one (slope 0.50)</text>"), 1u);
  EXPECT_EQ(count(text, ">one (slope 1.00)</text>"), 1u);
  EXPECT_EQ(count(text, ">first</text>"), 1u);
}

TEST(Figure, LeavesOutWhatHasNoPlace) {
  const Curve odd{"odd", "", {1, 2, 3, 4, 5, 6}, {nan, inf, 5, -1, 0, 4}, {0, 0, nan, 0, 0, 0}};
  const Curve none{"none", "", {1}, {nan}, {0}};
  const std::string text = svg({panel({odd}, true), panel({none})});
  EXPECT_EQ(count(text, "nan"), 0u);
  EXPECT_EQ(count(text, "inf"), 0u);
  EXPECT_EQ(count(text, "<polyline"), 1u);
}

TEST(Figure, DrawsADotForACurveOfOnePoint) {
  const std::string text = svg({panel({{"one", "", {100}, {3}, {0.5}}})});
  EXPECT_EQ(count(text, "<circle"), 1u);
  EXPECT_EQ(count(text, "<polyline"), 0u);
}

TEST(Figure, OfExtremeNumbersHasOnlyFiniteCoordinates) {
  for (const double v : {0.0, 5e-324, 1e-300, 1e-12, 1.0, -7.0, 1e15, 1e300, 1.7e308})
    for (const bool log : {false, true}) {
      const std::string text =
          svg({panel({{"one", "", {1, 2}, {v, v}, {0, v}}, {"two", "", {1, 2}, {v, 2 * v}, {0, 0}}}, log)});
      EXPECT_EQ(count(text, "nan"), 0u) << v;
      EXPECT_EQ(count(text, "inf"), 0u) << v;
      EXPECT_LT(text.size(), 20000u) << v;
    }
}

TEST(Figure, HasItsWidthOnPaperAndLettersOfSevenToNinePoints) {
  const std::string text = svg({panel({{"one", "", {1, 2}, {1, 2}, {0, 0}}})}, 85);
  EXPECT_EQ(count(text, "width=\"85.00mm\""), 1u);
  EXPECT_EQ(count(text, "viewBox=\"0 0 240.94 "), 1u);  // 85 mm / 25.4 mm · 72
  const std::regex size("<text [^>]*font-size=\"([0-9.]+)\"");
  for (std::sregex_iterator i(text.begin(), text.end(), size), end; i != end; ++i) {
    EXPECT_GE(std::stod((*i)[1]), 7.0);
    EXPECT_LE(std::stod((*i)[1]), 9.0);
  }
}

TEST(Figure, GivesCurvesTheirOwnPairOfColourAndDash) {
  std::vector<Curve> curves;
  for (int i = 0; i < 40; ++i) curves.push_back({std::to_string(i), "", {1, 2}, {1.0 * i, 2.0 * i}, {0, 0}});
  const std::string text = svg({panel(curves)});
  const std::regex style("<polyline [^>]*stroke=\"([^\"]+)\"[^>]*stroke-dasharray=\"([^\"]+)\"");
  std::vector<std::string> seen;
  for (std::sregex_iterator i(text.begin(), text.end(), style), end; i != end; ++i)
    seen.push_back((*i)[1].str() + (*i)[2].str());
  ASSERT_EQ(seen.size(), 40u);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST(Figure, KeepsItsLegendOnThePage) {
  std::vector<Curve> curves;
  for (int i = 0; i < 12; ++i) curves.push_back({std::string(20 + 30 * to_size(i), 'w'), "", {1, 2}, {1, 2}, {0, 0}});
  const std::string text = svg({panel(curves)}, 85);
  const std::regex words("<text x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"start\" font-size=\"8.0\" >(w+)(…)?<");
  std::size_t found = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), words), end; i != end; ++i, ++found)
    // w is 0.722 of the size, the ellipsis 1
    EXPECT_LE(3 + std::stod((*i)[1]) + 8 * (0.722 * static_cast<double>((*i)[2].length()) + ((*i)[3].length() > 0)),
              241.0);
  EXPECT_EQ(found, 12u);
}

TEST(Figure, NamesCannotBreakOutOfTheirText) {
  const Curve evil{"\"><x onload='a'>\x01", "", {1}, {1}, {0}};
  const std::string text = Figure{"<script>", 170, {{"</svg>", {{"a & b", "]]>", false, false, {evil}}}}}}.svg();
  EXPECT_EQ(count(text, "<script>"), 0u);
  EXPECT_EQ(count(text, "<x onload"), 0u);
  EXPECT_EQ(count(text, "</svg>"), 1u);
  EXPECT_EQ(count(text, "]]>"), 0u);
  EXPECT_EQ(count(text, "\x01"), 0u);
  EXPECT_EQ(count(text, "a &amp; b"), 1u);
}

TEST(Figure, OfNothingIsStillAPicture) { EXPECT_EQ(count(Figure{}.svg(), "</svg>"), 1u); }

}  // namespace
