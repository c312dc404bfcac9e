#include "obolus/core/convex_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
using Long = long double;
using LongVector = Vector<Long>;

// ---- Samples -------------------------------------------------------------------------------------------------------

// RapidCheck narrows a range in its first cases; these draw from all of it always.
template <class T>
T between(T min, T max) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(min, max + 1));
}
double one_of(std::vector<double> values) { return values[between<std::size_t>(0, values.size() - 1)]; }

// Small integers give ties and zeros; the scale goes from far inside to far outside every sample set.
std::vector<double> sample_point(std::size_t n) {
  const double scale = one_of({1e-30, 1e-3, 0.1, 1.0, 10.0, 1e10, 1e30});
  const int reach = between(0, 1) == 0 ? 4 : 1'000'000;
  const auto entry = rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-reach, reach + 1));
  const auto whole = *rc::gen::container<std::vector<int>>(n, entry);
  std::vector<double> point(n);
  for (std::size_t i = 0; i < n; ++i) point[i] = scale * whole[i] / reach;
  return point;
}

template <class S>
Vector<S> as(const std::vector<double>& values) {
  return Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size())).template cast<S>();
}

struct Sample {
  ConvexSet set;
  double size;  // of the entries of a projected point; rounding errors are proportional to it, and 0 for a clamp
  std::function<LongVector(const LongVector&)> reference;
};

// ---- References, written apart: sorting for the simplex, bisection for the others ----------------------------------

LongVector sorted_simplex(const LongVector& x, Long mass) {
  LongVector w = x.array() - x.maxCoeff();
  std::vector<Long> order(w.begin(), w.end());
  std::sort(order.begin(), order.end(), std::greater<>());
  Long sum = 0, threshold = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sum += order[k];
    const Long candidate = (sum - mass) / static_cast<Long>(k + 1);
    if (order[k] - candidate > 0) threshold = candidate;
  }
  return (w.array() - threshold).cwiseMax(0);
}

LongVector sorted_l1(const LongVector& x, Long radius) {
  if (x.lpNorm<1>() <= radius) return x;
  return sorted_simplex(x.cwiseAbs(), radius).cwiseProduct(x.cwiseSign());
}

// The multiplier μ ≥ 0 of |u|² ≤ r² in min |u − x|²: u = x / (1 + μ).
LongVector bisected_l2(const LongVector& x, Long radius) {
  const Long norm = x.stableNorm();
  if (norm <= radius) return x;
  Long low = 0, high = norm / radius;
  for (int i = 0; i < 300; ++i) {
    const Long middle = (low + high) / 2;
    (norm / (1 + middle) > radius ? low : high) = middle;
  }
  return x / (1 + high);
}

// The derivative of (u − x)² changes sign at the nearest point of the interval, or at none and an end is nearest.
Long bisected_interval(Long x, Long lower, Long upper) {
  Long low = std::max(lower, -1 - std::abs(x)), high = std::min(upper, 1 + std::abs(x));
  if (low > high) return low > x ? lower : upper;
  for (int i = 0; i < 300; ++i) {
    const Long middle = low + (high - low) / 2;
    (middle < x ? low : high) = middle;
  }
  return x < low ? low : high;
}

LongVector bisected_box(const LongVector& x, const Vector<double>& lower, const Vector<double>& upper) {
  LongVector out(x.size());
  for (Index i = 0; i < x.size(); ++i) out(i) = bisected_interval(x(i), lower(i), upper(i));
  return out;
}

// ---- Sample sets ----------------------------------------------------------------------------------------------------

Sample box_sample(const Vector<double>& lower, const Vector<double>& upper, const ConvexSet& set) {
  return {set, 0.0, [=](const LongVector& x) { return bisected_box(x, lower, upper); }};
}

// Bounds are dyadic, so that the float set is the double set.
Sample sample_coordinate_box(Index n) {
  Vector<double> lower(n), upper(n);
  for (Index i = 0; i < n; ++i) {
    const double a = between(-8, 8) * 0.25;
    lower(i) = between(0, 3) == 0 ? -infinity : a;
    upper(i) = between(0, 3) == 0 ? infinity : a + between(0, 8) * 0.25;
  }
  return box_sample(lower, upper, ConvexSet::box(lower, upper));
}

std::vector<Sample> sample_sets(Index n) {
  const double radius = one_of({0.01, 0.3, 1.0, 7.0, 1e6});
  const auto constant = [n](double value) { return Vector<double>::Constant(n, value).eval(); };
  return {{ConvexSet::all(), 0.0, [](const LongVector& x) { return x; }},
          box_sample(constant(-0.5), constant(2.0), ConvexSet::box(-0.5, 2.0)),
          sample_coordinate_box(n),
          {ConvexSet::l2_ball(radius), radius, [=](const LongVector& x) { return bisected_l2(x, radius); }},
          {ConvexSet::l1_ball(radius), radius, [=](const LongVector& x) { return sorted_l1(x, radius); }},
          {ConvexSet::simplex(), 1.0, [](const LongVector& x) { return sorted_simplex(x, 1); }},
          box_sample(constant(0.0), constant(infinity), ConvexSet::nonnegative())};
}

// What an entry of a projected point may be wrong by, relative to the size of the set. Rounding the entry to S costs
// ε_S / 2, shrinking into the ball ε_S and what the sum of n terms in double was wrong by; that sum and the shift cost
// 2n·2^-53, and twice that for the ball's sum. Rounded up to powers of two.
template <class S>
double entry_error(const Sample& sample, Index n) {
  return sample.size *
         (2.0 * static_cast<double>(std::numeric_limits<S>::epsilon()) + static_cast<double>(n) * 0x1p-50);
}

template <class S>
Vector<S> projected(const ConvexSet& set, const Vector<S>& x) {
  Vector<S> p = x;
  set.project(p);
  return p;
}

template <class S>
bool same_bits(const Vector<S>& a, const Vector<S>& b) {
  for (Index i = 0; i < a.size(); ++i)
    if (a(i) != b(i) || std::signbit(a(i)) != std::signbit(b(i))) return false;
  return a.size() == b.size();
}

template <class Check>
void for_sampled_sets(Check&& check) {
  const auto n = between<std::size_t>(1, 24);
  const auto x = sample_point(n), u = sample_point(n);
  for (const Sample& sample : sample_sets(static_cast<Index>(n))) {
    RC_LOG() << sample.set.name() << ", x = " << rc::toString(x) << ", u = " << rc::toString(u) << "\n";
    check.template operator()<float>(sample, as<float>(x), as<float>(u));
    check.template operator()<double>(sample, as<double>(x), as<double>(u));
  }
}

// ---- The four laws of a projection, and the references --------------------------------------------------------------

RC_GTEST_PROP(ConvexSetProperty, AProjectedPointIsFeasibleWithoutTolerance, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>&) {
    RC_ASSERT(sample.set.contains(projected(sample.set, x), 0.0));
  });
}

RC_GTEST_PROP(ConvexSetProperty, ProjectingTwiceIsProjectingOnceBitForBit, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>&) {
    const Vector<S> once = projected(sample.set, x);
    RC_ASSERT(same_bits(projected(sample.set, once), once));
  });
}

RC_GTEST_PROP(ConvexSetProperty, AFeasiblePointIsLeftAsItIs, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>&) {
    if (sample.set.contains(x, 0.0)) RC_ASSERT(same_bits(projected(sample.set, x), x));
  });
}

RC_GTEST_PROP(ConvexSetProperty, ProjectionIsNonExpansive, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>& u) {
    const LongVector a = projected(sample.set, x).template cast<Long>(),
                     b = projected(sample.set, u).template cast<Long>();
    const Long apart = (x.template cast<Long>() - u.template cast<Long>()).stableNorm();
    const Long error = std::sqrt(static_cast<double>(x.size())) * entry_error<S>(sample, x.size());
    // Clamping is exact, but the two norms are rounded to long double.
    RC_ASSERT((a - b).stableNorm() <= apart * (1 + 1e-17L) + 2 * error);
  });
}

// <x − p, u − p> ≤ 0 for the exact projection p. With p wrong by e and u outside the set by e', both no longer than E,
// the left side grows by at most E (2|x − p| + |u − p| + E).
RC_GTEST_PROP(ConvexSetProperty, FeasiblePointsAreSeenAtAnObtuseAngle, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>& other) {
    const LongVector p = projected(sample.set, x).template cast<Long>();
    const LongVector away = x.template cast<Long>() - p;
    const LongVector inward = projected(sample.set, other).template cast<Long>() - p;
    const Long error = std::sqrt(static_cast<double>(x.size())) * entry_error<S>(sample, x.size());
    const Long bound = error * (2 * away.stableNorm() + inward.stableNorm() + error);
    const Long rounding = 1e-18L * away.stableNorm() * inward.stableNorm();
    RC_ASSERT(away.dot(inward) <= bound + (sample.size > 0 ? rounding : 0));
  });
}

RC_GTEST_PROP(ConvexSetProperty, ProjectionAgreesWithASlowReference, ()) {
  for_sampled_sets([]<class S>(const Sample& sample, const Vector<S>& x, const Vector<S>&) {
    const LongVector fast = projected(sample.set, x).template cast<Long>();
    const LongVector slow = sample.reference(x.template cast<Long>());
    const Long worst = (fast - slow).cwiseAbs().maxCoeff();
    // Bisection ends within the long double's rounding of the entry.
    const Long bound =
        entry_error<S>(sample, x.size()) + (sample.size > 0 ? 0 : 2e-19L * (1 + slow.cwiseAbs().maxCoeff()));
    RC_ASSERT(worst <= bound);
  });
}

// ---- Support function and largest norm ------------------------------------------------------------------------------

// With p = P(td): <td − p, u − p> ≤ 0 gives <d, u> ≤ <d, p> + <p, u − p>/t ≤ <d, p> + 2R²/t, for every u of the set.
RC_GTEST_PROP(ConvexSetProperty, SupportIsReachedByProjectingAFarPointAndNeverExceeded, ()) {
  const auto n = between<std::size_t>(1, 12);
  Vector<double> d(static_cast<Index>(n));
  for (double& entry : d) entry = between(-4, 4);
  const Vector<double> other = as<double>(sample_point(n));
  for (const Sample& sample : sample_sets(d.size())) {
    if (!sample.set.bounded()) continue;
    const double radius = sample.set.max_norm(d.size()), far = 1e6 * radius + 1.0;
    const Vector<double> p = projected<double>(sample.set, far * d), u = projected(sample.set, other);
    const double support = sample.set.support(d);
    const double rounding = 1e-14 * radius * d.norm();  // n <= 12 products, each wrong by 2^-53, and p by n·2^-50
    RC_ASSERT(d.dot(u) <= support + rounding);
    RC_ASSERT(d.dot(p) <= support + rounding);
    RC_ASSERT(support <= d.dot(p) + 2.0 * radius * radius / far + rounding);
    RC_ASSERT(u.norm() <= radius * (1.0 + 1e-14));
  }
}

TEST(ConvexSet, SupportIsInfiniteInUnboundedDirectionsOnly) {
  const Vector<double> zero = Vector<double>::Zero(2);
  Vector<double> up(2), down(2);
  up << 0.0, 1.0;
  down << 0.0, -1.0;
  EXPECT_EQ(ConvexSet::all().support(zero), 0.0);
  EXPECT_EQ(ConvexSet::all().support(down), infinity);
  EXPECT_EQ(ConvexSet::nonnegative().support(zero), 0.0);
  EXPECT_EQ(ConvexSet::nonnegative().support(up), infinity);
  EXPECT_EQ(ConvexSet::nonnegative().support(down), 0.0);
  const ConvexSet half = ConvexSet::box(-infinity, 3.0);
  EXPECT_EQ(half.support(zero), 0.0);
  EXPECT_EQ(half.support(up), 3.0);
  EXPECT_EQ(half.support(down), infinity);
}

TEST(ConvexSet, LargestNormsAreThoseOfTheFarthestPoints) {
  Vector<double> lower(2), upper(2);
  lower << -3.0, 1.0;
  upper << 2.0, 4.0;
  EXPECT_EQ(ConvexSet::box(lower, upper).max_norm(2), 5.0);
  EXPECT_EQ(ConvexSet::box(-2.0, 1.0).max_norm(4), 4.0);
  EXPECT_EQ(ConvexSet::l2_ball(2.5).max_norm(7), 2.5);
  EXPECT_EQ(ConvexSet::l1_ball(2.5).max_norm(7), 2.5);
  EXPECT_EQ(ConvexSet::simplex().max_norm(7), 1.0);
  EXPECT_EQ(ConvexSet::all().max_norm(1), infinity);
  EXPECT_EQ(ConvexSet::nonnegative().max_norm(1), infinity);
  EXPECT_EQ(ConvexSet::box(0.0, infinity).max_norm(3), infinity);
}

// ---- Single points --------------------------------------------------------------------------------------------------

template <class S>
class ConvexSetOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ConvexSetOf, Scalars);

std::vector<ConvexSet> one_of_each() {
  return {ConvexSet::all(),
          ConvexSet::box(-1.0, 1.0),
          ConvexSet::box(Vector<double>::Zero(3), Vector<double>::Ones(3)),
          ConvexSet::l2_ball(1.0),
          ConvexSet::l1_ball(1.0),
          ConvexSet::simplex(),
          ConvexSet::nonnegative()};
}

TYPED_TEST(ConvexSetOf, ANaNStaysInTheVectorAndIsNeverContained) {
  for (const ConvexSet& set : one_of_each()) {
    for (Index at = 0; at < 3; ++at) {
      Vector<TypeParam> x = Vector<TypeParam>::Constant(3, TypeParam(5));
      x(at) = static_cast<TypeParam>(nan_value);
      EXPECT_FALSE(set.contains(x, 1e9)) << set.name();
      set.project(x);
      EXPECT_TRUE(x.hasNaN()) << set.name();
    }
  }
}

TYPED_TEST(ConvexSetOf, InfinitiesAreClampedByABoxAndStayNonFiniteElsewhere) {
  for (const ConvexSet& set : one_of_each()) {
    Vector<TypeParam> x = Vector<TypeParam>::Zero(3);
    x(1) = std::numeric_limits<TypeParam>::infinity();
    set.project(x);
    EXPECT_EQ(x.allFinite(), set.name() == "box") << set.name();
  }
}

TYPED_TEST(ConvexSetOf, NegativeZeroIsFeasibleAndKept) {
  const Vector<TypeParam> x = Vector<TypeParam>::Constant(2, -TypeParam(0));
  EXPECT_TRUE(same_bits(projected(ConvexSet::nonnegative(), x), x));
  EXPECT_TRUE(same_bits(projected(ConvexSet::box(0.0, 1.0), x), x));
}

TYPED_TEST(ConvexSetOf, ContainsGrantsTheToleranceAndNoMore) {
  const auto outside = [](double by) { return Vector<TypeParam>::Constant(1, static_cast<TypeParam>(1.0 + by)); };
  for (const ConvexSet& set :
       {ConvexSet::box(-1.0, 1.0), ConvexSet::l2_ball(1.0), ConvexSet::l1_ball(1.0), ConvexSet::simplex()}) {
    EXPECT_TRUE(set.contains(outside(0.25), 0.25)) << set.name();
    EXPECT_FALSE(set.contains(outside(0.2501), 0.25)) << set.name();
  }
  EXPECT_TRUE(ConvexSet::nonnegative().contains(outside(-1.25), 0.25));
  EXPECT_FALSE(ConvexSet::nonnegative().contains(outside(-1.2501), 0.25));
}

TYPED_TEST(ConvexSetOf, ProjectingAndTestingAllocateNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const std::vector<ConvexSet> sets = one_of_each();
  Vector<TypeParam> x(3);
  bool all_contained = true;
  const test::AllocationCounter counter;
  for (const ConvexSet& set : sets) {
    x << TypeParam(3), TypeParam(-2), TypeParam(0.5);
    set.project(x);
    all_contained = all_contained && set.contains(x, 0.0);
  }
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_TRUE(all_contained);
}

TYPED_TEST(ConvexSetOf, PartOfALargerVectorIsProjectedInPlace) {
  Vector<TypeParam> x = Vector<TypeParam>::Constant(5, TypeParam(9));
  ConvexSet::box(0.0, 1.0).project(x.segment(1, 3));
  EXPECT_EQ(x(0), TypeParam(9));
  EXPECT_EQ(x.segment(1, 3), Vector<TypeParam>::Ones(3));
  EXPECT_EQ(x(4), TypeParam(9));
}

// ---- Making sets ----------------------------------------------------------------------------------------------------

TEST(ConvexSet, NamesAreThoseOfTheConfiguration) {
  std::vector<std::string> names;
  for (const ConvexSet& set : one_of_each()) names.emplace_back(set.name());
  EXPECT_EQ(names, (std::vector<std::string>{"all", "box", "box", "l2_ball", "l1_ball", "simplex", "nonnegative"}));
}

TEST(ConvexSet, OnlyFiniteSetsAreBounded) {
  EXPECT_FALSE(ConvexSet::all().bounded());
  EXPECT_FALSE(ConvexSet::nonnegative().bounded());
  EXPECT_FALSE(ConvexSet::box(0.0, infinity).bounded());
  EXPECT_FALSE(ConvexSet::box(-infinity, 0.0).bounded());
  EXPECT_TRUE(ConvexSet::box(0.0, 1.0).bounded());
  EXPECT_TRUE(ConvexSet::l1_ball(1.0).bounded());
  EXPECT_TRUE(ConvexSet::l2_ball(1.0).bounded());
  EXPECT_TRUE(ConvexSet::simplex().bounded());
}

template <class Make>
std::string config_error(Make&& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

TEST(ConvexSet, CrossedBoundsAreRefusedWithTheirCoordinate) {
  Vector<double> lower(3), upper(3);
  lower << 0.0, 0.0, 2.5;
  upper << 1.0, 1.0, 1.5;
  EXPECT_EQ(config_error([&] { (void)ConvexSet::box(lower, upper); }),
            "set box: got lower 2.5 and upper 1.5 at coordinate 2, expected lower <= upper, neither NaN");
  EXPECT_EQ(config_error([&] { (void)ConvexSet::box(1.0, -1.0); }),
            "set box: got lower 1 and upper -1, expected lower <= upper, neither NaN");
}

TEST(ConvexSet, BoundsThatAreNaNOrLeaveNothingAreRefused) {
  EXPECT_THROW((void)ConvexSet::box(nan_value, 1.0), ConfigError);
  EXPECT_THROW((void)ConvexSet::box(0.0, nan_value), ConfigError);
  EXPECT_THROW((void)ConvexSet::box(infinity, infinity), ConfigError);
  EXPECT_THROW((void)ConvexSet::box(-infinity, -infinity), ConfigError);
  EXPECT_THROW((void)ConvexSet::box(Vector<double>::Zero(2), Vector<double>::Zero(3)), ConfigError);
  EXPECT_NO_THROW((void)ConvexSet::box(1.0, 1.0));
  EXPECT_NO_THROW((void)ConvexSet::box(-infinity, infinity));
}

TEST(ConvexSet, RadiiThatAreNotPositiveAndFiniteAreRefused) {
  for (const double radius : {0.0, -1.0, nan_value, infinity}) {
    EXPECT_THROW((void)ConvexSet::l2_ball(radius), ConfigError) << radius;
    EXPECT_THROW((void)ConvexSet::l1_ball(radius), ConfigError) << radius;
  }
  EXPECT_EQ(config_error([] { (void)ConvexSet::l1_ball(-0.1); }),
            "set l1_ball: got radius -0.1, expected a finite number > 0");
}

TEST(ConvexSet, BoundsPerCoordinateMustFitTheDimension) {
  const ConvexSet one = ConvexSet::box(Vector<double>::Zero(1), Vector<double>::Ones(1));
  EXPECT_NO_THROW(one.check_dimension(1));
  EXPECT_EQ(config_error([&] { one.check_dimension(4); }),
            "set box: got bounds for 1 coordinates, expected 4, the dimension of x");
  EXPECT_FALSE(one.contains(Vector<double>::Zero(4).eval(), 0.0));
  for (const ConvexSet& set :
       {ConvexSet::all(), ConvexSet::box(0.0, 1.0), ConvexSet::l2_ball(1.0), ConvexSet::simplex()})
    EXPECT_NO_THROW(set.check_dimension(4));
  EXPECT_THROW(ConvexSet::simplex().check_dimension(0), ConfigError);
}

}  // namespace
