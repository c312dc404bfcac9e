#include "obolus/core/gradient_mapping.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;

Vector<double> sample(Index n, int reach) {
  Vector<double> x(n);
  for (double& entry : x) entry = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-100, 101)) * 0.01 * reach;
  return x;
}

constexpr double u = 0x1p-53;  // the unit rounding of double

// A projected point of n <= 8 entries within 1.5 is wrong by at most this (entry_error in convex_set_test).
double projection_error(Index n) { return std::sqrt(static_cast<double>(n)) * 1.5 * (4.0 * u + 8.0 * 8.0 * u); }

std::vector<ConvexSet> sample_sets() {
  return {ConvexSet::all(),        ConvexSet::box(-0.5, 1.0), ConvexSet::l2_ball(1.5),
          ConvexSet::l1_ball(1.5), ConvexSet::simplex(),      ConvexSet::nonnegative()};
}

// The definition, eq. (3): scratch ends as the minimiser of <d, u> + |u − x|²/(2γ) over the set.
RC_GTEST_PROP(GradientMappingProperty, TheStepEndsAtTheMinimiserOfTheModel, ()) {
  const Index n = *rc::gen::inRange(1, 9);
  const Vector<double> x = sample(n, 2), d = sample(n, 3), elsewhere = sample(n, 2);
  const double gamma = *rc::gen::element(0.01, 0.5, 4.0);
  for (const ConvexSet& set : sample_sets()) {
    Vector<double> step(n), other = elsewhere;
    set.project(other);
    (void)gradient_mapping_squared<double>(set, x, d, gamma, step);
    const auto model = [&](const Vector<double>& at) { return d.dot(at) + (at - x).squaredNorm() / (2.0 * gamma); };
    const auto rounding = [&](const Vector<double>& at) {  // n products and sums, and three operations more
      return static_cast<double>(n + 3) * u *
             (d.cwiseAbs().dot(at.cwiseAbs()) + (at - x).squaredNorm() / (2.0 * gamma));
    };
    // The model's slope at the minimiser is −(x − γd − u)/γ; rounding x − γd moves the minimiser by as much again.
    const double slope = (x - gamma * d - step).norm() / gamma + u * (x.norm() + gamma * d.norm()) / gamma;
    const double moved = projection_error(n) + u * (x.norm() + 2.0 * gamma * d.norm());
    RC_ASSERT(set.contains(step, 0.0));
    RC_ASSERT(model(step) <= model(other) + rounding(step) + rounding(other) + (slope + moved / gamma) * moved);
  }
}

// Moved and unmoved coordinates are counted in two ways; both are (x − step)/γ, up to the rounding of x − γd over γ.
RC_GTEST_PROP(GradientMappingProperty, TheResultIsTheSquaredLengthOfTheStepOverGamma, ()) {
  const Index n = *rc::gen::inRange(1, 9);
  const Vector<double> x = sample(n, 2), d = sample(n, 3);
  const double gamma = *rc::gen::element(0.01, 0.5, 4.0);
  for (const ConvexSet& set : sample_sets()) {
    Vector<double> step(n);
    const double squared = gradient_mapping_squared<double>(set, x, d, gamma, step);
    const double direct = (x - step).squaredNorm() / (gamma * gamma);
    // γd and x − γd are rounded in the one, x − step and the quotient in the other, n squares and sums in both.
    const double apart = u * (x.norm() + 2.0 * gamma * d.norm() + 2.0 * (x - step).norm()) / gamma;
    const double sums = 2.0 * static_cast<double>(n + 2) * u * direct;
    RC_ASSERT(std::abs(squared - direct) <= (2.0 * std::sqrt(direct) + apart) * apart + sums);
  }
}

// P is non-expansive and P(x) = x for a feasible x, so |G| <= |d|.
RC_GTEST_PROP(GradientMappingProperty, FromAFeasiblePointItIsNoLongerThanTheDirection, ()) {
  const Index n = *rc::gen::inRange(1, 9);
  const Vector<double> start = sample(n, 2), d = sample(n, 3);
  const double gamma = *rc::gen::element(0.01, 0.5, 4.0);
  for (const ConvexSet& set : sample_sets()) {
    Vector<double> x = start, step(n);
    set.project(x);
    const double length = std::sqrt(gradient_mapping_squared<double>(set, x, d, gamma, step));
    const double rounding = 2.0 * projection_error(n) + u * (x.norm() + 2.0 * gamma * d.norm());
    RC_ASSERT(length <= d.norm() * (1.0 + 8.0 * u) + rounding / gamma);
  }
}

template <class S>
class GradientMappingOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GradientMappingOf, Scalars);

// A step γ|d| below the rounding of x vanishes in x − γd, and still the direction is found whole.
TYPED_TEST(GradientMappingOf, WithoutConstraintsItIsTheDirectionForAnyStepSize) {
  using V = Vector<TypeParam>;
  const V x = V::Constant(3, TypeParam(1000)), d = V::Constant(3, TypeParam(0.25));
  V step(3);
  for (const double gamma : {1e-30, 1e-12, 1e-3, 1.0, 1e3})
    EXPECT_EQ(gradient_mapping_squared<TypeParam>(ConvexSet::all(), x, d, gamma, step), 3.0 / 16.0) << gamma;
}

TYPED_TEST(GradientMappingOf, AtAWallOnlyTheWayToTheWallCounts) {
  Vector<TypeParam> x(3), d(3), step(3);
  x << TypeParam(0.75), TypeParam(1), TypeParam(0);
  d << TypeParam(-1), TypeParam(-5), TypeParam(2);
  // γ = 1/2: steps to 1.25 → 1, to 3.5 → 1, to −1 (allowed). G = (−1/2, 0, 2).
  EXPECT_EQ(gradient_mapping_squared<TypeParam>(ConvexSet::box(-1.0, 1.0), x, d, 0.5, step), 0.25 + 0.0 + 4.0);
  EXPECT_EQ(step(0), TypeParam(1));
  EXPECT_EQ(step(1), TypeParam(1));
  EXPECT_EQ(step(2), TypeParam(-1));
}

TYPED_TEST(GradientMappingOf, ADirectionThatOnlyLeavesTheSetCountsNothing) {
  Vector<TypeParam> x(2), d(2), step(2);
  x << TypeParam(0.5), TypeParam(0.5);
  d << TypeParam(3), TypeParam(3);
  EXPECT_EQ(gradient_mapping_squared<TypeParam>(ConvexSet::simplex(), x, d, 0.25, step), 0.0);
  x << TypeParam(2), TypeParam(0);
  d << TypeParam(-3), TypeParam(0);
  EXPECT_EQ(gradient_mapping_squared<TypeParam>(ConvexSet::l2_ball(2.0), x, d, 0.25, step), 0.0);
}

TYPED_TEST(GradientMappingOf, SmallSquaresBesideALargeOneAreNotLost) {
  Vector<TypeParam> x = Vector<TypeParam>::Zero(10'001), d = Vector<TypeParam>::Ones(10'001), step(10'001);
  d(0) = TypeParam(1e4);  // in float, 1e8 + 1 is 1e8
  EXPECT_EQ(gradient_mapping_squared<TypeParam>(ConvexSet::all(), x, d, 0.5, step), 1e8 + 1e4);
}

TYPED_TEST(GradientMappingOf, ANaNInTheDirectionShowsInTheResult) {
  Vector<TypeParam> x = Vector<TypeParam>::Zero(2), d = Vector<TypeParam>::Ones(2), step(2);
  d(1) = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const ConvexSet& set : sample_sets())
    EXPECT_TRUE(std::isnan(gradient_mapping_squared<TypeParam>(set, x, d, 0.5, step))) << set.name();
}

TYPED_TEST(GradientMappingOf, NothingIsAllocated) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Vector<TypeParam> x = Vector<TypeParam>::Ones(5), d = -x, step(5);
  const std::vector<ConvexSet> sets = sample_sets();
  double sum = 0.0;
  const test::AllocationCounter counter;
  for (const ConvexSet& set : sets) sum += gradient_mapping_squared<TypeParam>(set, x, d, 0.5, step);
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_GT(sum, 0.0);
}

}  // namespace
