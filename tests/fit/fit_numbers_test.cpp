// Numbers never explode, whatever the columns and the labels do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using test::data_row;

struct Column {
  const char* name;
  std::function<double(int t, double truth, Rng& rng)> value;
};

// `truth` is what the label is made of.
const std::vector<Column> columns{
    {"trending", [](int t, double truth, Rng&) { return 0.1 * t + truth; }},
    {"growing", [](int t, double, Rng& rng) { return std::exp(0.05 * t) * rng.normal(); }},
    {"nearly the same", [](int, double truth, Rng& rng) { return truth + 1e-6 * rng.normal(); }},
    {"constant", [](int, double, Rng&) { return 7e5; }},
    {"constant until row 100", [](int t, double, Rng& rng) { return t < 100 ? 3.0 : 1e4 * rng.normal(); }},
    {"huge", [](int, double, Rng& rng) { return 1e30 * rng.normal(); }},
    {"tiny", [](int, double truth, Rng&) { return 1e-25 * truth; }},
    {"far from 0", [](int, double truth, Rng&) { return 1e9 + truth; }},
    {"heavy tails", [](int, double, Rng& rng) { return std::pow(rng.normal() / (1e-3 + std::abs(rng.normal())), 3); }},
    {"an outlier", [](int t, double truth, Rng&) { return t == 57 ? 1e12 : truth; }},
    {"turning", [](int t, double truth, Rng&) { return t % 80 < 40 ? truth : -truth; }},
    {"missing at first", [](int t, double truth, Rng&) { return t < 150 ? 0.0 : 100 * truth; }},
};

struct Labels {
  const char* name;
  std::function<double(int t, double truth)> value;
};
const std::vector<Labels> labels{
    {"plain", [](int, double truth) { return 43 + truth; }},
    {"large", [](int, double truth) { return 1e8 + 1e6 * truth; }},
    {"trend", [](int t, double truth) { return 0.2 * t + truth; }},
    {"jump", [](int t, double truth) { return (t < 150 ? 0 : 500) + truth; }},
    {"constant", [](int, double) { return -3.0; }},
};

struct Errors {
  double ours = 0, mean = 0;  // squared, after the first rows
  bool finite = true, in_range = true;
};

Errors run(const std::vector<Column>& those, const Labels& of, FitBlend blend, FitRange range, std::uint64_t seed) {
  FitOptions o;
  o.task = FitTask::numbers;
  o.blend = blend;
  o.range = range;
  Fit fit(o);
  std::vector<std::string> names;
  for (const Column& c : those) names.emplace_back(c.name);
  fit.set_groups(names, true);
  Rng rng(seed);
  Errors e;
  double mean = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (int t = 0; t < 300; ++t) {
    const double truth = rng.normal(), label = of.value(t, truth);
    DataRow row = data_row(std::to_string(label), {});
    for (std::size_t i = 0; i < those.size(); ++i)
      row.features.push_back({static_cast<std::uint32_t>(i), i, static_cast<float>(those[i].value(t, truth, rng))});
    const double number = fit.learn(row).number;
    if (!std::isfinite(number) || !std::isfinite(fit.outer_loss())) {
      e.finite = false;
      return e;
    }
    if (t > 0) {
      // The targets of the rows of a round that has not ended do not count yet: a margin of the range on either side.
      const double margin = 0.5 * (high - low) + 1e-3 * std::max({1.0, std::abs(low), std::abs(high)});
      e.in_range = e.in_range && number >= low - margin && number <= high + margin;
    }
    if (t >= 10) {
      e.ours += (number - label) * (number - label);
      e.mean += (mean - label) * (mean - label);
    }
    mean += (label - mean) / (t + 1);
    low = std::min(low, label);
    high = std::max(high, label);
  }
  return e;
}

std::vector<std::vector<Column>> sets() {
  std::vector<std::vector<Column>> all{columns};
  for (const Column& c : columns) {
    all.push_back({c});
    all.push_back({c, c, columns[2]});  // collinear
  }
  return all;
}

// The bounds are a little above the worst of all cases here.
void expect_sound(FitBlend blend, FitRange range, double factor, double more = 1e-6) {
  for (const Labels& of : labels)
    for (const auto& those : sets())
      for (const std::uint64_t seed : {1u, 2u}) {
        const Errors e = run(those, of, blend, range, seed);
        const std::string what = std::string(of.name) + ": " + those[0].name + ", " + std::to_string(those.size());
        EXPECT_TRUE(e.finite) << what;
        EXPECT_TRUE(e.in_range || range == FitRange::any) << what;
        EXPECT_LE(e.ours, factor * e.mean + more) << what;
      }
}

TEST(FitNumbersProperty, StayInRangeAndLoseLittleToTheMean) { expect_sound(FitBlend::labels, FitRange::seen, 1.15); }
TEST(FitNumbersProperty, DoSoByTheModelAlone) { expect_sound(FitBlend::none, FitRange::seen, 1.2); }
// The first rows of columns that are nearly the same may then lead astray once, and no further.
TEST(FitNumbersProperty, DoNotDivergeWhereverTheyMayLie) { expect_sound(FitBlend::none, FitRange::any, 20, 10); }

}  // namespace
}  // namespace obolus
