#include "obolus/metrics/drift_detectors.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "obolus/core/rng.hpp"

namespace {

using namespace obolus;

// ADWIN that keeps every number, and visits all of them for every boundary of buckets.
class SlowAdwin {
 public:
  explicit SlowAdwin(double delta, std::size_t clock) : delta_(delta), clock_(clock) {}

  bool add(double value) {
    numbers_.push_back(value);
    buckets_.push_back(1);
    for (std::size_t size = 1; std::ranges::count(buckets_, size) == 6; size *= 2) {  // oldest first
      const auto oldest = std::ranges::find(buckets_, size);
      *oldest += size;
      buckets_.erase(oldest + 1);
    }
    bool shrank = false;
    if (++added_ % clock_ != 0 || numbers_.size() <= 10) return false;
    for (; is_cut(); shrank = true) {
      numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(buckets_.front()));
      buckets_.erase(buckets_.begin());
    }
    return shrank;
  }

  [[nodiscard]] std::size_t width() const { return numbers_.size(); }
  [[nodiscard]] double mean(std::size_t first, std::size_t last) const {
    long double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += numbers_[i];
    return static_cast<double>(sum / static_cast<long double>(last - first));
  }
  [[nodiscard]] double variance() const {
    const double centre = mean(0, numbers_.size());
    long double sum = 0;
    for (const double x : numbers_) sum += (x - centre) * (x - centre);
    return static_cast<double>(sum / static_cast<long double>(numbers_.size()));
  }

 private:
  [[nodiscard]] bool is_cut() const {
    const double n = static_cast<double>(numbers_.size()), dd = std::log(2 * std::log(n) / delta_);
    std::size_t n0 = 0;
    for (const std::size_t size : buckets_) {
      n0 += size;
      const std::size_t n1 = numbers_.size() - n0;
      if (n0 < 7 || n1 < 7) continue;
      const double m = 1.0 / static_cast<double>(n0 - 4) + 1.0 / static_cast<double>(n1 - 4);
      const double epsilon = std::sqrt(2 * m * variance() * dd) + 2.0 / 3.0 * m * dd;
      if (std::abs(mean(0, n0) - mean(n0, numbers_.size())) > epsilon) return true;
    }
    return false;
  }

  double delta_;
  std::size_t clock_, added_ = 0;
  std::vector<double> numbers_;
  std::vector<std::size_t> buckets_;
};

template <class Detector>
std::vector<std::byte> saved(Detector& detector) {
  Archive a;
  detector.fields(a);
  return a.bytes();
}

template <class Detector>
void expect_the_same_bits_when_resumed_at_every_row(const Detector& fresh, const std::vector<double>& stream) {
  Detector straight = fresh, resumed = fresh;
  for (const double x : stream) {
    Detector next = fresh;
    Archive a(saved(resumed));
    next.fields(a);
    a.finish();
    resumed = next;
    ASSERT_EQ(straight.add(x), resumed.add(x));
    ASSERT_EQ(saved(straight), saved(resumed));
  }
}

// Bernoulli numbers whose probability jumps.
std::vector<double> jumping(std::uint64_t seed, std::size_t before, double p, std::size_t after, double q) {
  Rng rng = Rng(seed).child("jumping");
  std::vector<double> out;
  for (std::size_t i = 0; i < before + after; ++i) out.push_back(rng.uniform() < (i < before ? p : q) ? 1.0 : 0.0);
  return out;
}

RC_GTEST_PROP(Adwin, AlarmsWhereTheSlowOneDoes, (std::uint64_t seed)) {
  Rng rng = Rng(seed).child("stream");
  const double delta = std::array{0.002, 0.05, 0.3}[rng.below(3)];
  const auto clock = std::array<std::int64_t, 3>{1, 7, 32}[rng.below(3)];
  Adwin fast({.delta = delta, .clock = clock});
  SlowAdwin slow(delta, to_size(clock));
  double level = 0.5, spread = 0.1;
  const std::size_t rows = clock == 1 ? 300 : 900;
  for (std::size_t i = 0; i < rows; ++i) {
    if (rng.uniform() < 0.005) {
      level = rng.uniform();
      spread = 0.3 * rng.uniform();
    }
    const double x = level + spread * rng.normal();
    RC_ASSERT(fast.add(x) == slow.add(x));
    RC_ASSERT(fast.width() == static_cast<std::int64_t>(slow.width()));
  }
  // Sums and merges of fewer than 2^10 numbers of size ≤ 4.
  RC_ASSERT(std::abs(fast.mean() - slow.mean(0, slow.width())) < 1e-12);
  RC_ASSERT(std::abs(fast.variance() - slow.variance()) < 1e-12);
}

TEST(Adwin, AStillStreamAlarmsNoMoreOftenThanDeltaACheck) {
  // 31 checks per stream, each with an alarm with probability ≤ δ: a stream has one with probability ≤ 31δ = 0.31. Of
  // 400 independent streams fewer than 400·0.31 + 5·√(400·0.31·0.69) = 170 have, but for 3e-7.
  int alarmed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Adwin adwin({.delta = 0.01});
    bool any = false;
    for (const double x : jumping(seed, 1000, 0.3, 0, 0.0)) any = adwin.add(x) || any;
    alarmed += any;
  }
  EXPECT_LT(alarmed, 170);
}

TEST(Adwin, AConstantStreamNeverAlarmsAndItsWindowGrows) {
  Adwin adwin;
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(adwin.add(0.1));
  EXPECT_EQ(adwin.width(), 100'000);
  EXPECT_NEAR(adwin.mean(), 0.1, 1e-14);
  EXPECT_LT(adwin.variance(), 1e-25);
  // Sizes 1, …, 2^15 at most, of 6 buckets of 3 numbers and their names: memory is O(log n).
  EXPECT_LT(saved(adwin).size(), 16U * 6U * 100U);
}

TEST(Adwin, AJumpFromZeroToOneIsFoundAtTheFirstCheck) {
  // n = 1056, n1 = 32, of which at least 24 are in whole buckets: d = 8.85, σ² = 0.03, m ≤ 1/20 + 1/1020, ε ≤ 0.47
  // while the means differ by more than 0.99.
  Adwin adwin;
  for (int i = 0; i < 1024; ++i) ASSERT_FALSE(adwin.add(0.0));
  for (int i = 0; i < 31; ++i) ASSERT_FALSE(adwin.add(1.0));
  EXPECT_TRUE(adwin.add(1.0));
  // The ones stay; with 32 zeros before them ε = 0.94 < 1, so that fewer zeros do.
  EXPECT_GE(adwin.width(), 32);
  EXPECT_LT(adwin.width(), 64);
  EXPECT_GT(adwin.last_change(), 0.5);
}

TEST(Adwin, ASmallerJumpIsFoundWithinItsDelay) {
  // With n1' new numbers in whole buckets: ε ≤ √(2·0.17·9.2/n1') + 6.2/n1'. The difference of 0.2 exceeds that and five
  // deviations of the new mean, 5·0.49/√n1', from n1' = 530. A bucket with old and new numbers has size 2^r ≤ n1'/4 +
  // 1, because at least four of each smaller size are newer; so n1 ≤ 1.25·530 + 1, and 32 rows to the next check: 696.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Adwin adwin;
    std::int64_t row = 0, found = 0;
    for (const double x : jumping(seed, 10'000, 0.2, 1000, 0.4)) {
      ++row;
      if (adwin.add(x) && row > 10'000 && found == 0) found = row;
    }
    EXPECT_GT(found, 10'000) << seed;
    EXPECT_LE(found, 10'696) << seed;
    EXPECT_GT(adwin.last_change(), 0.0) << seed;
  }
}

TEST(Adwin, AResumedOneGoesOnWithTheSameBits) {
  expect_the_same_bits_when_resumed_at_every_row(Adwin{{.delta = 0.05, .clock = 8}}, jumping(1, 300, 0.1, 300, 0.8));
}

TEST(Adwin, DamagedStatesAndNumbersAreRefused) {
  Adwin adwin, other;
  EXPECT_THROW(adwin.add(std::numeric_limits<double>::quiet_NaN()), DataError);
  EXPECT_EQ(adwin.width(), 0);
  adwin.add(1.0);
  std::vector<std::byte> bytes = saved(adwin);
  bytes.resize(bytes.size() - 3);
  Archive a(bytes);
  EXPECT_THROW(other.fields(a), DataError);
  EXPECT_THROW(Adwin({.delta = 0.0}), ConfigError);
}

// The classical statistic, from the whole history.
double slow_page_hinkley(const std::vector<double>& history, double delta, double sign) {
  double m = 0.0, min = 0.0, sum = 0.0;
  for (std::size_t t = 0; t < history.size(); ++t) {
    sum += history[t];
    m += sign * (history[t] - sum / static_cast<double>(t + 1)) - delta;
    min = std::min(min, m);
  }
  return m - min;
}

RC_GTEST_PROP(PageHinkley, WithoutForgettingItIsTheClassicalStatistic, (std::uint64_t seed)) {
  Rng rng = Rng(seed).child("stream");
  const DriftDirection direction =
      std::array{DriftDirection::up, DriftDirection::down, DriftDirection::both}[rng.below(3)];
  PageHinkley fast({.delta = 0.1, .lambda = 8.0, .alpha = 1.0, .min_rows = 20, .direction = direction});
  std::vector<double> history;
  for (int i = 0; i < 300; ++i) {
    history.push_back((i / 100 % 2 == 0 ? 0.0 : 1.0) + rng.normal());
    const double up = slow_page_hinkley(history, 0.1, 1.0), down = slow_page_hinkley(history, 0.1, -1.0);
    const bool alarm = history.size() >= 20 && ((direction != DriftDirection::down && up > 8.0) ||
                                                (direction != DriftDirection::up && down > 8.0));
    RC_ASSERT(fast.add(history.back()) == alarm);
    if (alarm) history.clear();
    else RC_ASSERT(std::abs(fast.up() - up) < 1e-10 && std::abs(fast.down() - down) < 1e-10);
  }
}

TEST(PageHinkley, ForgettingIsAGeometricSum) {
  PageHinkley detector({.delta = 0.0, .lambda = 1e9, .alpha = 0.5});
  const std::vector<double> stream{0.0, 1.0, 3.0};  // means 0, 1/2, 4/3
  for (const double x : stream) detector.add(x);
  EXPECT_NEAR(detector.up(), 0.5 * 0.5 + 5.0 / 3.0, 1e-15);
  EXPECT_EQ(detector.down(), 0.0);
}

TEST(PageHinkley, AStillStreamDoesNotAlarm) {
  // N(0, 1), δ = 1, λ = 20. Where the mean is within ½ of 0 the sums have drift ≤ −½, and reach λ in an excursion with
  // probability ≤ e^{−2·½·20} (Lundberg): 4e-4 over 2·10^5 rows. It is further off at some row after the 100th of some
  // stream with probability ≤ 200·Σ 2e^{−t/8} < 0.02. Without alarms before, least_rows.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng = Rng(seed).child("still");
    PageHinkley detector(
        {.delta = 1.0, .lambda = 20.0, .alpha = 1.0, .min_rows = 100, .direction = DriftDirection::both});
    for (int i = 0; i < 1000; ++i) ASSERT_FALSE(detector.add(rng.normal())) << seed << ' ' << i;
  }
}

TEST(PageHinkley, AJumpIsFoundAfterItsDelayInItsDirectionOnly) {
  // 1000 zeros, then ones: after k of them the mean is k/(1000 + k), so up grows by 1 − k/(1000 + k) − δ per row, and
  // exceeds λ = 20 with δ = 0.1 at k = 23: 23·0.9 − Σ_{j ≤ 23} j/(1000 + j) = 20.43, and at k = 22, 19.55.
  const auto first_alarm = [](DriftDirection direction, double from, double to) {
    PageHinkley detector({.delta = 0.1, .lambda = 20.0, .alpha = 1.0, .direction = direction});
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(detector.add(from));
    for (int k = 1; k <= 100; ++k)
      if (detector.add(to)) return k;
    return 0;
  };
  EXPECT_EQ(first_alarm(DriftDirection::up, 0.0, 1.0), 23);
  EXPECT_EQ(first_alarm(DriftDirection::both, 0.0, 1.0), 23);
  EXPECT_EQ(first_alarm(DriftDirection::down, 0.0, 1.0), 0);
  EXPECT_EQ(first_alarm(DriftDirection::down, 1.0, 0.0), 23);
  EXPECT_EQ(first_alarm(DriftDirection::both, 1.0, 0.0), 23);
  EXPECT_EQ(first_alarm(DriftDirection::up, 1.0, 0.0), 0);
}

TEST(PageHinkley, AResumedOneGoesOnWithTheSameBits) {
  expect_the_same_bits_when_resumed_at_every_row(
      PageHinkley{{.delta = 0.01, .lambda = 5.0, .direction = DriftDirection::both}}, jumping(2, 300, 0.1, 300, 0.8));
}

TEST(PageHinkley, NumbersThatAreNotFiniteAreRefused) {
  PageHinkley detector;
  EXPECT_THROW(detector.add(std::numeric_limits<double>::infinity()), DataError);
  EXPECT_EQ(detector.rows(), 0);
}

}  // namespace
