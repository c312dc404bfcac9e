#include "obolus/metrics/class_metrics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

// The definitions, from all rows, by the confusion matrix.
struct Direct {
  template <class Rows>
  explicit Direct(const Rows& rows) {
    std::map<std::pair<int, int>, long double> confusion;
    std::set<int> seen, met;
    long double all = 0, loss = 0, diagonal = 0, disagreement = 0, recalls = 0, f1s = 0;
    for (const JudgedClass& r : rows) {
      if (r.weight == 0) continue;
      confusion[{r.truth, r.predicted}] += r.weight;
      all += r.weight;
      loss += static_cast<long double>(r.weight) * r.log_loss;
      seen.insert(r.truth);
      met.insert(r.truth);
      if (r.predicted >= 0) met.insert(r.predicted);
    }
    for (const int k : met) {
      long double truth = 0, predicted = 0;
      for (const auto& [cell, weight] : confusion) {
        if (cell.first == k) truth += weight;
        if (cell.second == k) predicted += weight;
      }
      const long double both = confusion[{k, k}];
      diagonal += both;
      if (seen.contains(k)) recalls += both / truth;
      const long double precision = predicted > 0 ? both / predicted : 0, recall = truth > 0 ? both / truth : 0;
      f1s += precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
    }
    // 1 − a and 1 − e, over pairs of different classes.
    for (const auto& [a, x] : confusion)
      for (const auto& [b, y] : confusion) disagreement += a.first != b.second ? x * y / all / all : 0;
    long double wrong = 0;
    for (const auto& [cell, weight] : confusion) wrong += cell.first != cell.second ? weight : 0;
    log_loss = static_cast<double>(loss / all);
    accuracy = static_cast<double>(diagonal / all);
    balanced = static_cast<double>(recalls / static_cast<long double>(seen.size()));
    f1 = static_cast<double>(f1s / static_cast<long double>(met.size()));
    kappa = disagreement > 0 ? static_cast<double>(1 - wrong / all / disagreement) : 0.0;
  }
  double log_loss, accuracy, balanced, f1, kappa;
};

// Sums are right to a unit in the last place; means over 6 classes and kappa's denominator, sums of terms ≥ 0, add a
// few roundings of their size.
void expect_equal(const ClassMetrics& m, const Direct& d) {
  EXPECT_NEAR(m.log_loss(), d.log_loss, 4e-16 * std::max(1.0, d.log_loss));
  EXPECT_NEAR(m.accuracy(), d.accuracy, 4e-16);
  EXPECT_NEAR(m.balanced_accuracy(), d.balanced, 4e-15);
  EXPECT_NEAR(m.macro_f1(), d.f1, 4e-15);
  EXPECT_NEAR(m.kappa(), d.kappa, 4e-15 * (1.0 + std::abs(1.0 - d.kappa)));
}

// Row i of a stream in which class k first appears at row 40k, with guesses that are right more often than not.
JudgedClass random_row(const Rng& seed, std::int64_t i, bool weighted) {
  Rng rng = seed.child("row", static_cast<std::uint64_t>(i));
  const auto known = static_cast<std::uint64_t>(std::min<std::int64_t>(1 + i / 40, 6));
  const auto truth = static_cast<std::int32_t>(rng.below(known));
  const auto guess = rng.uniform() < 0.6 ? truth : static_cast<std::int32_t>(rng.below(known + 1)) - 1;
  const double p = rng.uniform() < 0.01 ? 0.0 : rng.uniform();
  const double weight = !weighted ? 1.0 : rng.uniform() < 0.1 ? 0.0 : std::exp(4.0 * rng.normal());
  return JudgedClass::of(truth, guess, p, weight);
}

template <class M>
std::vector<std::byte> saved(M& metrics) {
  Archive a;
  metrics.fields(a);
  return a.bytes();
}

RC_GTEST_PROP(ClassMetrics, CumulativeOnesAreTheirDefinitions, (std::uint64_t seed, bool weighted)) {
  const Rng rng(seed);
  ClassMetrics metrics;
  std::vector<JudgedClass> history;
  for (std::int64_t i = 0; i < 300; ++i) {
    history.push_back(random_row(rng, i, weighted));
    metrics.add(history.back());
    if (i % 23 == 22) expect_equal(metrics, Direct(history));
  }
  RC_ASSERT(metrics.rows() == 300);
  RC_ASSERT(!::testing::Test::HasFailure());
}

RC_GTEST_PROP(ClassMetrics, WindowedOnesAreTheDefinitionsOnTheLastRows, (std::uint64_t seed, bool weighted)) {
  const Rng rng(seed);
  const auto n = static_cast<std::int64_t>(1 + Rng(seed).child("n").below(120));
  WindowedClassMetrics window(n);
  std::deque<JudgedClass> last;
  for (std::int64_t i = 0; i < 400; ++i) {
    last.push_back(random_row(rng, i, weighted));
    if (static_cast<std::int64_t>(last.size()) > n) last.pop_front();
    window.add(last.back());
    RC_ASSERT(window.metrics().rows() == static_cast<std::int64_t>(last.size()));
    const bool weightless = std::ranges::all_of(last, [](const JudgedClass& r) { return r.weight == 0; });
    if (weightless) RC_ASSERT(std::isnan(window.metrics().accuracy()) && std::isnan(window.metrics().kappa()));
    else if (i % 17 == 0) expect_equal(window.metrics(), Direct(last));
  }
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(ClassMetrics, AWindowDoesNotDriftInAMillionRows) {
  constexpr std::int64_t n = 1000;
  const Rng seed(3);
  WindowedClassMetrics window(n);
  std::deque<JudgedClass> last;
  for (std::int64_t i = 0; i < 1'000'000; ++i) {
    last.push_back(random_row(seed, i, true));
    if (i % 977 == 0) last.back().weight = 1e12;  // hides twelve digits of the other weights while it is in the window
    if (last.size() > n) last.pop_front();
    window.add(last.back());
    if (i % 99'991 == 99'990 || i > 999'990) expect_equal(window.metrics(), Direct(last));
  }
}

TEST(ClassMetrics, SmallCasesByHand) {
  ClassMetrics m;
  EXPECT_TRUE(std::isnan(m.accuracy()) && std::isnan(m.log_loss()) && std::isnan(m.kappa()) &&
              std::isnan(m.macro_f1()));
  m.add(JudgedClass::of(0, 0, 1.0));
  EXPECT_EQ(m.log_loss(), 0.0);
  EXPECT_EQ(m.accuracy(), 1.0);
  EXPECT_EQ(m.kappa(), 0.0);  // one class only: agreement is certain by chance
  m.add(JudgedClass::of(2, 0, 0.0));
  EXPECT_DOUBLE_EQ(m.log_loss(), 0.5 * -std::log(1e-15));
  EXPECT_EQ(m.accuracy(), 0.5);
  EXPECT_EQ(m.balanced_accuracy(), 0.5);      // recalls 1 of class 0, 0 of class 2; class 1 was not seen
  EXPECT_DOUBLE_EQ(m.macro_f1(), 1.0 / 3.0);  // 2/3 and 0
  EXPECT_EQ(m.kappa(), 0.0);                  // chance: 1/2·1
  EXPECT_EQ(m.classes(), 3U);
}

TEST(ClassMetrics, AVectorOfProbabilitiesPredictsItsFirstLargest) {
  const std::vector<float> p{0.25F, 0.375F, 0.375F};
  const auto judged = JudgedClass::of(2, std::span<const float>(p), 2.0);
  EXPECT_EQ(judged.predicted, 1);
  EXPECT_DOUBLE_EQ(judged.log_loss, -std::log(0.375));
  EXPECT_EQ(judged.weight, 2.0);
  EXPECT_EQ(judged.confidence, 0.375);
  const auto later = JudgedClass::of(3, std::span<const float>(p));
  EXPECT_DOUBLE_EQ(later.log_loss, -std::log(1e-15));
  const auto nothing = JudgedClass::of(0, std::span<const double>());
  EXPECT_EQ(nothing.predicted, JudgedClass::no_class);
}

TEST(ClassMetrics, ResumedAtEveryRowTheBitsAreTheSame) {
  const Rng seed(5);
  WindowedClassMetrics straight(37), resumed(37);
  ClassMetrics all, all_resumed;
  for (std::int64_t i = 0; i < 200; ++i) {
    WindowedClassMetrics window(37);
    ClassMetrics cumulative;
    Archive a(saved(resumed)), b(saved(all_resumed));
    window.fields(a);
    cumulative.fields(b);
    a.finish();
    b.finish();
    resumed = window;
    all_resumed = cumulative;
    const JudgedClass row = random_row(seed, i, true);
    straight.add(row);
    resumed.add(row);
    all.add(row);
    all_resumed.add(row);
    ASSERT_EQ(saved(straight), saved(resumed));
    ASSERT_EQ(saved(all), saved(all_resumed));
  }
}

TEST(ClassMetrics, RowsThatMakeNoSenseAreRefusedAndChangeNothing) {
  WindowedClassMetrics window(2);
  window.add(JudgedClass::of(0, 0, 0.5));
  const auto before = saved(window);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(window.add(JudgedClass::of(-1, 0, 0.5)), DataError);
  EXPECT_THROW(window.add(JudgedClass::of(0, -2, 0.5)), DataError);
  EXPECT_THROW(window.add(JudgedClass::of(0, 0, nan)), DataError);
  EXPECT_THROW(window.add(JudgedClass::of(0, 0, 0.5, -1.0)), DataError);
  EXPECT_THROW(window.add(JudgedClass::of(0, 0, 0.5, nan)), DataError);
  EXPECT_EQ(saved(window), before);
  EXPECT_THROW(WindowedClassMetrics(0), ConfigError);
}

TEST(ClassMetrics, AStateOfAnotherWindowIsRefused) {
  WindowedClassMetrics three(3), four(4);
  Archive a(saved(three));
  EXPECT_THROW(four.fields(a), DataError);
}

}  // namespace
