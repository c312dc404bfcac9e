#include "obolus/core/projection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/rng.hpp"

// The hard points. The laws of a projection, for every set, are in convex_set_test.cpp.
namespace {

using namespace obolus;

template <class S>
Vector<S> projected(const ConvexSet& set, const Vector<S>& x) {
  Vector<S> p = x;
  set.project(p);
  return p;
}

template <class S>
class ProjectionOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ProjectionOf, Scalars);

TYPED_TEST(ProjectionOf, ASingleCoordinateIsClampedOrBecomesTheWholeMass) {
  using V = Vector<TypeParam>;
  for (const double value : {-1e30, -2.0, 0.0, 0.25, 1.0, 5.0, 1e30}) {
    const V x = V::Constant(1, static_cast<TypeParam>(value));
    EXPECT_EQ(projected(ConvexSet::simplex(), x)(0), TypeParam(1));
    EXPECT_EQ(projected(ConvexSet::l1_ball(2.0), x)(0), static_cast<TypeParam>(std::clamp(value, -2.0, 2.0)));
    EXPECT_EQ(projected(ConvexSet::l2_ball(2.0), x)(0), static_cast<TypeParam>(std::clamp(value, -2.0, 2.0)));
  }
}

TYPED_TEST(ProjectionOf, EqualEntriesShareTheMassEqually) {
  using V = Vector<TypeParam>;
  for (const TypeParam value : {TypeParam(-1e20), TypeParam(0), TypeParam(0.5), TypeParam(1e20)}) {
    EXPECT_EQ(projected<TypeParam>(ConvexSet::simplex(), V::Constant(4, value)), V::Constant(4, TypeParam(0.25)));
    if (value > TypeParam(1)) {
      EXPECT_EQ(projected<TypeParam>(ConvexSet::l1_ball(2.0), V::Constant(4, -value)), V::Constant(4, TypeParam(-0.5)));
    }
  }
}

TYPED_TEST(ProjectionOf, TheLargestFiniteNumbersAreProjectedLikeOthers) {
  const TypeParam huge = std::numeric_limits<TypeParam>::max();
  Vector<TypeParam> x(3);
  x << huge, -huge, huge;
  Vector<TypeParam> expected(3);
  expected << TypeParam(0.5), TypeParam(0), TypeParam(0.5);
  EXPECT_EQ(projected(ConvexSet::simplex(), x), expected);
  const TypeParam third = TypeParam(1) / TypeParam(3), root = std::sqrt(third);
  const TypeParam ulps = 4 * std::numeric_limits<TypeParam>::epsilon();  // one shrink and a rounding
  expected << third, -third, third;
  EXPECT_LE((projected(ConvexSet::l1_ball(1.0), x) - expected).cwiseAbs().maxCoeff(), ulps);
  expected << root, -root, root;
  EXPECT_LE((projected(ConvexSet::l2_ball(1.0), x) - expected).cwiseAbs().maxCoeff(), ulps);
  for (const ConvexSet& set : {ConvexSet::simplex(), ConvexSet::l1_ball(1.0), ConvexSet::l2_ball(1.0)})
    EXPECT_TRUE(set.contains(projected(set, x), 0.0)) << set.name();
}

TYPED_TEST(ProjectionOf, ExtremeRadiiNeitherOverflowNorVanish) {
  const double min = static_cast<double>(std::numeric_limits<TypeParam>::min());
  const double max = static_cast<double>(std::numeric_limits<TypeParam>::max());
  const Vector<TypeParam> x = Vector<TypeParam>::Constant(4, static_cast<TypeParam>(max));
  for (const double radius : {64.0 * min, max}) {
    for (const ConvexSet& set : {ConvexSet::l1_ball(radius), ConvexSet::l2_ball(radius)}) {
      const Vector<TypeParam> p = projected(set, x);
      EXPECT_TRUE(set.contains(p, 0.0));
      // Entries of 16 times the least normal number and above keep all their digits.
      const double share = set.name() == "l1_ball" ? radius / 4.0 : radius / 2.0;
      EXPECT_NEAR(static_cast<double>(p(0)) / share, 1.0,
                  4.0 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
      EXPECT_EQ(projected(set, p), p);
    }
  }
}

TYPED_TEST(ProjectionOf, LongVectorsStayWithinTheSlackOfTheSimplexAndInTheBalls) {
  Rng rng(1);
  Vector<TypeParam> x(100'000);
  for (const double scale : {1e-7, 1e-4, 1.0, 1e6}) {
    rng.fill_normal(x);
    x *= static_cast<TypeParam>(scale);
    for (const ConvexSet& set : {ConvexSet::simplex(), ConvexSet::l1_ball(0.001), ConvexSet::l2_ball(1e-6)}) {
      const Vector<TypeParam> p = projected(set, x);
      EXPECT_TRUE(set.contains(p, 0.0)) << set.name() << " at scale " << scale;
      EXPECT_EQ(projected(set, p), p) << set.name() << " at scale " << scale;
    }
  }
}

// Every Newton step drops few entries of a geometric sequence: the slow case of the active-set passes.
TYPED_TEST(ProjectionOf, GeometricSequencesEndToo) {
  Vector<TypeParam> x(100);
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<TypeParam>(std::pow(1.5, static_cast<double>(i)) * 1e-10);
  const Vector<TypeParam> p = projected(ConvexSet::simplex(), x);
  EXPECT_EQ(p(99), TypeParam(1));
  EXPECT_EQ(p.sum(), TypeParam(1));
}

}  // namespace
