#include "obolus/core/rng.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/allocation_counter.hpp"

namespace {

using obolus::philox4x32_10;
using obolus::PhiloxCounter;
using obolus::Rng;

static_assert(std::is_trivially_copyable_v<Rng>);
static_assert(sizeof(Rng) == 2 * sizeof(std::uint64_t), "the state is (key, position) and nothing hidden");

// Statistical tests use fixed seeds: they pass or fail for good. Bounds are five standard deviations of the statistic
// under the hypothesis, which a correct generator exceeds for one seed in 1.7 million.
constexpr double deviations = 5.0;

double chi_squared(std::span<const int> counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const int c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

// χ² with k − 1 degrees of freedom has mean k − 1 and variance 2(k − 1).
double chi_squared_bound(std::size_t bins) {
  const double freedom = static_cast<double>(bins) - 1.0;
  return freedom + deviations * std::sqrt(2.0 * freedom);
}

TEST(Rng, PhiloxGivesTheKnownAnswersOfRandom123) {  // its tests/kat_vectors, lines «philox4x32 10»
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, BitsAreTheFirstHalfOfEachBlockLowWordFirst) {
  Rng rng(0);
  EXPECT_EQ(rng.bits(), 0xe169c58d6627e8d5u);
  const PhiloxCounter second = philox4x32_10({1, 0, 0, 0}, {0, 0});
  EXPECT_EQ(rng.bits(), second[0] | (std::uint64_t{second[1]} << 32));
}

TEST(Rng, PositionsBeyondThirtyTwoBitsReachTheSecondCounterWord) {
  Rng rng = Rng::at(0, 0x0000000300000007u);
  const PhiloxCounter block = philox4x32_10({7, 3, 0, 0}, {0, 0});
  EXPECT_EQ(rng.bits(), block[0] | (std::uint64_t{block[1]} << 32));
}

// Written down once, and found again by a Python program that knows Philox, FNV-1a and the exact acceptance region
// v² <= −4u² ln u only: published results depend on these bits.
TEST(Rng, StreamsNeverChangeBetweenVersions) {
  Rng rng = Rng(2024).child("data", 3);
  EXPECT_EQ(rng.key(), 0x9ff11cc78a017d60u);
  EXPECT_EQ(rng.bits(), 0xeaa59d7f197152f8u);
  EXPECT_EQ(rng.below(1000), 482u);
  EXPECT_EQ(rng.uniform(), 0x1.de1a04eba73c3p-1);
  EXPECT_EQ(rng.normal(), 0x1.a26bb7473771cp-1);
  EXPECT_EQ(rng.normal(), 0x1.62863d5672037p-5);
}

RC_GTEST_PROP(RngProperty, AChildDoesNotDependOnWhatItsParentDrew, (std::uint64_t seed, std::string label)) {
  Rng drawn(seed);
  const auto draws = *rc::gen::inRange(0, 50);
  for (int i = 0; i < draws; ++i) (void)drawn.normal();
  RC_ASSERT(drawn.child(label, 7) == Rng(seed).child(label, 7));
}

RC_GTEST_PROP(RngProperty, ARecordedPlaceIsFoundAgain, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto draws = *rc::gen::inRange(0, 50);
  for (int i = 0; i < draws; ++i) (void)rng.normal();
  Rng again = Rng::at(rng.key(), rng.position());
  RC_ASSERT(again == rng);
  RC_ASSERT(again.bits() == rng.bits());
}

RC_GTEST_PROP(RngProperty, BelowStaysBelow, (std::uint64_t seed, std::uint64_t n)) {
  RC_PRE(n > 0u);
  Rng rng(seed);
  for (int i = 0; i < 20; ++i) RC_ASSERT(rng.below(n) < n);
}

RC_GTEST_PROP(RngProperty, ShufflingKeepsEveryElement, (std::uint64_t seed, std::vector<int> values)) {
  std::vector<int> shuffled = values;
  Rng(seed).shuffle(shuffled);
  std::sort(values.begin(), values.end());
  std::sort(shuffled.begin(), shuffled.end());
  RC_ASSERT(shuffled == values);
}

TEST(Rng, ChildrenDifferByLabelIndexAndParent) {
  std::set<std::uint64_t> keys;
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    const Rng parent(seed);
    keys.insert(parent.key());
    for (const char* label : {"", "a", "b", "ab", "ba", "noise", "noisf"})
      for (std::uint64_t index = 0; index < 1000; ++index) keys.insert(parent.child(label, index).key());
  }
  EXPECT_EQ(keys.size(), 3u * (1u + 7u * 1000u));
}

TEST(Rng, AGrandchildIsNotAChild) {
  const Rng rng(5);
  EXPECT_NE(rng.child("a").child("b"), rng.child("b").child("a"));
  EXPECT_NE(rng.child("a").child("b"), rng.child("ab"));
}

// The first draws of neighbouring children behave as one sequence of independent uniforms.
TEST(Rng, NeighbouringChildrenAreUncorrelated) {
  const Rng parent(11);
  constexpr int n = 100'000;
  double product = 0.0;
  double before = parent.child("round", 0).uniform() - 0.5;
  for (int i = 1; i <= n; ++i) {
    const double u = parent.child("round", static_cast<std::uint64_t>(i)).uniform() - 0.5;
    product += before * u;
    before = u;
  }
  // Each product has mean 0 and variance (1/12)².
  EXPECT_LE(std::abs(product), deviations * std::sqrt(n) / 12.0);
}

TEST(Rng, UniformsFillTheUnitIntervalEvenly) {
  Rng rng(1);
  std::array<int, 64> counts{};
  for (int i = 0; i < 200'000; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(u * 0x1p53, std::floor(u * 0x1p53));
    ++counts[static_cast<std::size_t>(u * 64.0)];
  }
  EXPECT_LE(chi_squared(counts), chi_squared_bound(counts.size()));
}

TEST(Rng, UniformOnAnIntervalIsTheScaledUnitUniform) {
  Rng a(9), b(9);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(a.uniform(-2.0, 2.0), -2.0 + 4.0 * b.uniform());
}

TEST(Rng, EveryBitIsSetHalfTheTime) {
  Rng rng(3);
  constexpr int n = 40'000;
  std::array<int, 64> set{};
  for (int i = 0; i < n; ++i) {
    const std::uint64_t r = rng.bits();
    for (std::size_t b = 0; b < 64; ++b) set[b] += static_cast<int>((r >> b) & 1u);
  }
  for (const int count : set) EXPECT_LE(std::abs(count - n / 2), deviations * std::sqrt(n) / 2.0);
}

// Plain r % n would give the lower third of {0, …, 3·2^62 − 1} twice its share.
TEST(Rng, BelowIsUnbiasedWhereTheModulusIsNot) {
  Rng rng(4);
  constexpr std::uint64_t third = std::uint64_t{1} << 62;
  std::array<int, 3> counts{};
  for (int i = 0; i < 30'000; ++i) ++counts[static_cast<std::size_t>(rng.below(3 * third) / third)];
  EXPECT_LE(chi_squared(counts), chi_squared_bound(counts.size()));
}

TEST(Rng, BelowOneIsZero) {
  Rng rng(4);
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, NormalsFollowTheNormalDistribution) {
  Rng rng(6);
  constexpr std::size_t n = 200'000;
  std::vector<double> draws(n);
  for (double& d : draws) d = rng.normal();
  std::sort(draws.begin(), draws.end());
  double distance = 0.0;  // Kolmogorov–Smirnov
  for (std::size_t i = 0; i < n; ++i) {
    const double cdf = 0.5 * std::erfc(-draws[i] / std::sqrt(2.0));
    distance = std::max(distance, std::abs(cdf - (static_cast<double>(i) + 0.5) / static_cast<double>(n)));
  }
  // P(√n D > 2.7) = 2 exp(−2 · 2.7²) = 9e-7.
  EXPECT_LE(distance * std::sqrt(static_cast<double>(n)), 2.7);
}

TEST(Rng, NormalsHaveTheMomentsAndTailsOfANormal) {
  Rng rng(8);
  constexpr double n = 400'000;
  double sum = 0.0, squares = 0.0, fourths = 0.0;
  int beyond_three = 0;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const double z = rng.normal();
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
    if (std::abs(z) > 3.0) ++beyond_three;
  }
  // Var z = 1, Var z² = 2, Var z⁴ = 105 − 9 = 96; P(|z| > 3) = 0.0026998.
  const double root = std::sqrt(n);
  EXPECT_LE(std::abs(sum / n), deviations / root);
  EXPECT_LE(std::abs(squares / n - 1.0), deviations * std::sqrt(2.0) / root);
  EXPECT_LE(std::abs(fourths / n - 3.0), deviations * std::sqrt(96.0) / root);
  const double tail = 0.0026997960632601866;
  EXPECT_LE(std::abs(beyond_three - n * tail), deviations * std::sqrt(n * tail));
}

TEST(Rng, SuccessiveNormalsAreUncorrelated) {
  Rng rng(10);
  constexpr int n = 200'000;
  double product = 0.0, before = rng.normal();
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    product += before * z;
    before = z;
  }
  EXPECT_LE(std::abs(product), deviations * std::sqrt(n));
}

TEST(Rng, EveryOrderOfFourElementsIsEquallyLikely) {
  Rng rng(12);
  std::array<int, 24> counts{};
  for (int i = 0; i < 24'000; ++i) {
    std::array<int, 4> order{0, 1, 2, 3};
    rng.shuffle(order);
    std::array<int, 4> walk{0, 1, 2, 3};
    std::size_t rank = 0;
    while (walk != order) {
      std::next_permutation(walk.begin(), walk.end());
      ++rank;
    }
    ++counts[rank];
  }
  EXPECT_LE(chi_squared(counts), chi_squared_bound(counts.size()));
}

TEST(Rng, VectorsSpansAndEigenVectorsShuffleAlike) {
  std::vector<int> plain(10), viewed(10);
  std::iota(plain.begin(), plain.end(), 0);
  std::iota(viewed.begin(), viewed.end(), 0);
  Eigen::VectorXi eigen = Eigen::VectorXi::LinSpaced(10, 0, 9);
  Rng(13).shuffle(plain);
  Rng(13).shuffle(std::span<int>(viewed));
  Rng(13).shuffle(eigen);
  EXPECT_EQ(plain, viewed);
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), eigen.begin()));
  EXPECT_FALSE(std::is_sorted(plain.begin(), plain.end()));
}

TEST(Rng, ShufflingNothingOrOneElementDrawsNothing) {
  Rng rng(14);
  std::vector<int> none, one{3};
  rng.shuffle(none);
  rng.shuffle(one);
  EXPECT_EQ(rng, Rng(14));
  EXPECT_EQ(one, std::vector<int>{3});
}

TEST(Rng, FillingDrawsTheSameNumbersAsOneByOne) {
  Rng filled(15), single(15);
  Eigen::MatrixXd m(3, 2);
  filled.fill_normal(m);
  for (Eigen::Index j = 0; j < 2; ++j)
    for (Eigen::Index i = 0; i < 3; ++i) EXPECT_EQ(m(i, j), single.normal());
  Eigen::VectorXf v(4);
  filled.fill_normal(v.head(2));
  EXPECT_EQ(v(0), static_cast<float>(single.normal()));
  EXPECT_EQ(v(1), static_cast<float>(single.normal()));
  EXPECT_EQ(filled, single);
}

TEST(Rng, DrawingAllocatesNothing) {
  if (!obolus::test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Rng rng(16);
  std::array<int, 8> order{};
  Eigen::Vector4d v;
  double sum = 0.0;
  const obolus::test::AllocationCounter counter;
  for (std::uint64_t i = 0; i < 100; ++i) {
    Rng child = rng.child("a label that is longer than a small string", i);
    sum += child.normal() + child.uniform() + static_cast<double>(child.below(7));
    rng.shuffle(order);
    rng.fill_normal(v);
  }
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
