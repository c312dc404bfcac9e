#include "obolus/metrics/error_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

struct Errors {
  double squared, absolute, median;
};

template <class Rows>
Errors direct(const Rows& rows) {
  long double all = 0, squares = 0, distances = 0;
  std::vector<double> sorted;
  for (const JudgedNumber& r : rows) {
    const long double error = r.predicted - r.truth;
    all += r.weight;
    squares += r.weight * error * error;
    distances += r.weight * std::abs(error);
    sorted.push_back(std::abs(r.predicted - r.truth));
  }
  const auto middle = sorted.begin() + (std::ssize(sorted) - 1) / 2;
  std::ranges::nth_element(sorted, middle);
  return {static_cast<double>(squares / all), static_cast<double>(distances / all), *middle};
}

// Each term is rounded twice, the ratio once: 2^-53 each.
void expect_equal(const ErrorMetrics& m, const Errors& d) {
  EXPECT_NEAR(m.squared_error(), d.squared, 5e-16 * d.squared);
  EXPECT_NEAR(m.absolute_error(), d.absolute, 5e-16 * d.absolute);
  EXPECT_NEAR(m.median_error(), d.median, 0.011 * d.median);  // half a bin
}

JudgedNumber random_row(Rng& rng) {
  return {.truth = rng.normal(), .predicted = 3.0 * rng.normal(), .weight = 0.1 + rng.uniform()};
}

TEST(ErrorMetrics, CumulativeAndWindowedOnesAreTheirDefinitions) {
  Rng rng(1);
  std::vector<JudgedNumber> history;
  std::deque<JudgedNumber> last;
  ErrorMetrics all;
  WindowedErrorMetrics window(50);
  EXPECT_TRUE(std::isnan(all.squared_error()) && std::isnan(all.absolute_error()) && std::isnan(all.median_error()));
  for (int i = 0; i < 1000; ++i) {
    history.push_back(random_row(rng));
    last.push_back(history.back());
    if (last.size() > 50) last.pop_front();
    all.add(history.back());
    window.add(history.back());
    expect_equal(all, direct(history));
    expect_equal(window.metrics(), direct(last));
  }
}

TEST(ErrorMetrics, AWindowForgetsHugeErrorsAndDoesNotDriftInAMillionRows) {
  Rng rng(2);
  std::deque<JudgedNumber> last;
  WindowedErrorMetrics window(100);
  for (int i = 0; i < 1'000'000; ++i) {
    last.push_back(random_row(rng));
    if (i % 1009 == 0) last.back().predicted = 1e6;
    if (last.size() > 100) last.pop_front();
    window.add(last.back());
    if (i % 9973 == 9972 || i > 999'900) expect_equal(window.metrics(), direct(last));
  }
}

TEST(ErrorMetrics, ResumedAtEveryRowTheBitsAreTheSame) {
  Rng rng(3);
  const auto saved = [](WindowedErrorMetrics& m) {
    Archive a;
    m.fields(a);
    return a.bytes();
  };
  WindowedErrorMetrics straight(13), resumed(13);
  for (int i = 0; i < 100; ++i) {
    WindowedErrorMetrics next(13);
    Archive a(saved(resumed));
    next.fields(a);
    a.finish();
    resumed = next;
    const JudgedNumber row = random_row(rng);
    straight.add(row);
    resumed.add(row);
    ASSERT_EQ(saved(straight), saved(resumed));
  }
}

TEST(ErrorMetrics, TheMedianOfErrorsThatAreZeroOrOutOfTheBinsIsTheNearestBin) {
  ErrorMetrics none, tiny;
  none.add({.truth = 1.0, .predicted = 1.0});
  EXPECT_EQ(none.median_error(), 0.0);
  tiny.add({.truth = 1e-300, .predicted = 0.0});
  EXPECT_EQ(tiny.median_error(), 0.0);
  ErrorMetrics huge;
  huge.add({.truth = 1e100, .predicted = 0.0});
  EXPECT_NEAR(huge.median_error(), 0x1p64, 0x1p60);
}

TEST(ErrorMetrics, RowsThatAreNotFiniteAreRefused) {
  ErrorMetrics m;
  EXPECT_THROW(m.add({.truth = 0.0, .predicted = std::numeric_limits<double>::infinity()}), DataError);
  EXPECT_THROW(m.add({.truth = 0.0, .predicted = 1e200}), DataError);
  EXPECT_THROW(m.add({.truth = 0.0, .predicted = 1.0, .weight = -1.0}), DataError);
  EXPECT_EQ(m.rows(), 0);
}

}  // namespace
