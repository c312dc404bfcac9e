#include "obolus/core/norm.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace obolus;

template <class S>
class NormOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(NormOf, Scalars);

TYPED_TEST(NormOf, SmallTermsBesideALargeOneAreNotLost) {
  Vector<TypeParam> x = Vector<TypeParam>::Ones(10'001);
  x(0) = TypeParam(1e4);  // in float, 1e8 + 1 is 1e8
  EXPECT_EQ(inner_product<TypeParam>(x, x), 1e8 + 1e4);
  EXPECT_EQ(euclidean_norm<TypeParam>(x), std::sqrt(1e8 + 1e4));
}

TYPED_TEST(NormOf, LargeAndSmallEntriesNeitherOverflowNorVanish) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam large = std::ldexp(TypeParam(1), Limits::max_exponent - 4);
  for (const TypeParam unit : {large, TypeParam(1), Limits::min(), Limits::denorm_min()}) {
    Vector<TypeParam> x(3);
    x << 3 * unit, 0, -4 * unit;
    // The scaled way divides, squares, sums, takes a root and multiplies: four roundings of 2^-53 at most. The least
    // subnormal number of double has no digits to lose: 5 is exact there.
    EXPECT_NEAR(euclidean_norm<TypeParam>(x) / static_cast<double>(unit), 5.0, 5.0 * 4.0 * 0x1p-53);
  }
}

TYPED_TEST(NormOf, EmptyAndZeroVectorsHaveNormZero) {
  EXPECT_EQ(euclidean_norm<TypeParam>(Vector<TypeParam>(0)), 0.0);
  EXPECT_EQ(euclidean_norm<TypeParam>(Vector<TypeParam>::Zero(4)), 0.0);
}

TYPED_TEST(NormOf, ANaNGivesANaNAndAnInfinityAnInfinity) {
  Vector<TypeParam> x = Vector<TypeParam>::Zero(3);
  x(1) = -std::numeric_limits<TypeParam>::infinity();
  EXPECT_EQ(euclidean_norm<TypeParam>(x), std::numeric_limits<double>::infinity());
  x(2) = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_TRUE(std::isnan(euclidean_norm<TypeParam>(x)));
}

TEST(Norm, TheNormOfHugeDoublesMayBeInfinite) {
  EXPECT_EQ(euclidean_norm<double>(Vector<double>::Constant(2, 1.7e308)), std::numeric_limits<double>::infinity());
}

// Rounding n squares and sums costs n·2^-53 of the square, half of it in the root, and scaling three operations more.
RC_GTEST_PROP(NormProperty, NormsAgreeWithLongDoubleAtEveryScale, ()) {
  const auto whole = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1001));
  RC_PRE(!whole.empty());
  const double scale = *rc::gen::element(1e-300, 1e-160, 1e-140, 1.0, 1e150, 1e160, 1e300);
  Vector<double> x(static_cast<Index>(whole.size()));
  for (Index i = 0; i < x.size(); ++i) x(i) = scale * whole[to_size(i)];
  const long double slow = x.cast<long double>().norm();
  const long double bound = static_cast<long double>(x.size() + 5) * 0x1p-53L * slow;
  RC_ASSERT(std::abs(static_cast<long double>(euclidean_norm<double>(x)) - slow) <= bound);
}

}  // namespace
