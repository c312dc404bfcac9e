#include "obolus/core/finite_difference.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;

// f = <1, x> + 2<1, y>,  g = Σ_i (y_i⁴/4 + y_i²/2) + Σ_ij B_ij sin(x_j) y_i³/6 with |B_ij| <= 1: everything is known,
// g_yy and g_xy change with y.
template <class S>
class Quartic {
 public:
  using Scalar = S;
  int gradients = 0;
  Matrix<S> b = (Matrix<S>(3, 2) << S(1), S(-0.5), S(0.25), S(1), S(-1), S(0.5)).finished();

  [[nodiscard]] Dims dims() const { return {2, 3}; }
  double outer_value(In<S> x, In<S> y) { return static_cast<double>(x.sum() + S(2) * y.sum()); }
  double inner_value(In<S> x, In<S> y) {
    const auto cubes = y.array().cube() / S(6);
    return static_cast<double>((y.array().pow(4) / S(4) + y.array().square() / S(2)).sum() +
                               (bent(x).array() * cubes).sum());
  }
  void outer_gradient_x(In<S>, In<S>, Out<S> gx) { gx.setOnes(); }
  void outer_gradient_y(In<S>, In<S>, Out<S> gy) { gy.setConstant(S(2)); }
  void inner_gradient_x(In<S> x, In<S> y, Out<S> gx) {
    ++gradients;
    for (Index j = 0; j < 2; ++j) gx(j) = std::cos(x(j)) * (b.col(j).array() * y.array().cube()).sum() / S(6);
  }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> gy) {
    ++gradients;
    for (Index i = 0; i < 3; ++i) gy(i) = y(i) * y(i) * y(i) + y(i) + bend(i, x) * y(i) * y(i) / S(2);
  }
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> gy) {
    for (Index i = 0; i < 3; ++i) gy(i) = (S(3) * y(i) * y(i) + S(1) + bend(i, x) * y(i)) * v(i);
  }
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> gx) {
    for (Index j = 0; j < 2; ++j)
      gx(j) = std::cos(x(j)) * (b.col(j).array() * y.array().square() * v.array()).sum() / S(2);
  }

 private:
  S bend(Index i, In<S> x) const { return b(i, 0) * std::sin(x(0)) + b(i, 1) * std::sin(x(1)); }
  Vector<S> bent(In<S> x) const { return b * x.array().sin().matrix(); }
};

template <class S>
class StreamedQuartic : public Quartic<S> {
 public:
  Round current = 0;
  bool sampled = false;
  void reveal(Round t) { current = t; }
  void resample(SampleSizes, Rng&) { sampled = true; }
  void expectation() { sampled = false; }
  void inner_solution(In<S>, Out<S> y) { y.setConstant(S(7)); }
  void inner_gradient_x_difference(In<S>, In<S>, In<S>, Out<S> gx) { gx.setConstant(S(8)); }
  void inner_gradient_y_difference(In<S>, In<S>, In<S>, Out<S> gy) { gy.setConstant(S(9)); }
};

template <class P>
using Differenced = FiniteDifferenceHvp<P>;
static_assert(HvpOracle<Differenced<Quartic<float>>> && HvpOracle<Differenced<Quartic<double>>>);
static_assert(!Stream<Differenced<Quartic<double>>> && !StochasticOracle<Differenced<Quartic<double>>>);
static_assert(!ClosedFormOracle<Differenced<Quartic<double>>> && !DifferenceOracle<Differenced<Quartic<double>>>);
static_assert(Stream<Differenced<StreamedQuartic<double>>> && StochasticOracle<Differenced<StreamedQuartic<double>>>);
static_assert(ClosedFormOracle<Differenced<StreamedQuartic<double>>> &&
              DifferenceOracle<Differenced<StreamedQuartic<double>>>);

template <class S>
Vector<S> sample(Index n) {
  Vector<S> x(n);
  for (S& entry : x) entry = static_cast<S>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-200, 201)) * 0.01);
  return x;
}

template <class S>
void check_products() {
  Quartic<S> problem;
  FiniteDifferenceHvp<Quartic<S>> differenced(problem);
  const Vector<S> x = sample<S>(2), y = sample<S>(3), v = sample<S>(3);
  const S untouched = std::numeric_limits<S>::quiet_NaN();
  Vector<S> exact_y(3), exact_x(2), got_y = Vector<S>::Constant(3, untouched),
                                    got_x = Vector<S>::Constant(2, untouched);
  problem.inner_hvp_yy(x, y, v, exact_y);
  problem.inner_hvp_xy(x, y, v, exact_x);
  differenced.inner_hvp_yy(x, y, v, got_y);
  differenced.inner_hvp_xy(x, y, v, got_x);

  // Along v/|v| with s = ε^(1/3) max(1, |y|): truncation s²M/6, where M bounds the third derivative along a unit
  // vector, 6 for g_y and √2 for g_x; rounding ε(8G + L|y|)/s, where the gradient's terms add up to G in size, 8 covers
  // their operations, and rounding y ± hv costs L|y|ε. |y_i| <= 2 and |bend| <= 2 give G <= √3 (8 + 2 + 4) and
  // L <= 12 + 1 + 4 for g_y, and less for g_x. The exact product is itself rounded: 8ε L|v|.
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const double y_norm = static_cast<double>(y.norm()), v_norm = static_cast<double>(v.norm());
  const double s = std::cbrt(epsilon) * std::max(1.0, y_norm);
  const double lipschitz = 17.0, size = 14.0 * std::sqrt(3.0);
  const double bound =
      s * s * 6.0 / 6.0 + epsilon * (8.0 * size + lipschitz * (y_norm + s)) / s + 8.0 * epsilon * lipschitz;
  RC_ASSERT(static_cast<double>((got_y - exact_y).norm()) <= bound * v_norm);
  RC_ASSERT(static_cast<double>((got_x - exact_x).norm()) <= bound * v_norm);
}

RC_GTEST_PROP(FiniteDifferenceProperty, ProductsAgreeWithTheExactOnesToTwoThirdsOfTheDigits, ()) {
  check_products<double>();
  check_products<float>();
}

// h|v| depends on y alone, so powers of two pass through every operation unrounded.
TEST(FiniteDifference, ScalingTheVectorByAPowerOfTwoScalesTheProductExactly) {
  Quartic<double> problem;
  FiniteDifferenceHvp<Quartic<double>> differenced(problem);
  const Vector<double> x = Vector<double>::Constant(2, 0.3), y = Vector<double>::LinSpaced(3, -1.0, 2.0);
  const Vector<double> v = Vector<double>::LinSpaced(3, 0.1, 0.9);
  Vector<double> plain(3), scaled(3);
  differenced.inner_hvp_yy(x, y, v, plain);
  for (const double factor : {0x1p-300, 0x1p-5, 0x1p300}) {
    differenced.inner_hvp_yy(x, y, factor * v, scaled);
    EXPECT_EQ(scaled, factor * plain) << factor;
  }
}

template <class S>
class FiniteDifferenceOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(FiniteDifferenceOf, Scalars);

TYPED_TEST(FiniteDifferenceOf, AProductCostsTwoGradientsAndTheProductWithZeroNone) {
  Quartic<TypeParam> problem;
  FiniteDifferenceHvp<Quartic<TypeParam>> differenced(problem);
  const Vector<TypeParam> x = Vector<TypeParam>::Ones(2), y = Vector<TypeParam>::Ones(3);
  Vector<TypeParam> v = Vector<TypeParam>::Zero(3), out_x = Vector<TypeParam>::Ones(2),
                    out_y = Vector<TypeParam>::Ones(3);
  differenced.inner_hvp_yy(x, y, v, out_y);
  differenced.inner_hvp_xy(x, y, v, out_x);
  EXPECT_EQ(problem.gradients, 0);
  EXPECT_EQ(out_y, Vector<TypeParam>::Zero(3));
  EXPECT_EQ(out_x, Vector<TypeParam>::Zero(2));
  v(1) = TypeParam(1);
  differenced.inner_hvp_yy(x, y, v, out_y);
  EXPECT_EQ(problem.gradients, 2);
  differenced.inner_hvp_xy(x, y, v, out_x);
  EXPECT_EQ(problem.gradients, 4);
}

TYPED_TEST(FiniteDifferenceOf, ANaNInTheVectorShowsInTheProduct) {
  Quartic<TypeParam> problem;
  FiniteDifferenceHvp<Quartic<TypeParam>> differenced(problem);
  const Vector<TypeParam> x = Vector<TypeParam>::Ones(2), y = Vector<TypeParam>::Ones(3);
  Vector<TypeParam> v = Vector<TypeParam>::Zero(3), out = Vector<TypeParam>::Zero(3);
  v(0) = std::numeric_limits<TypeParam>::quiet_NaN();
  differenced.inner_hvp_yy(x, y, v, out);
  EXPECT_TRUE(out.hasNaN());
}

TYPED_TEST(FiniteDifferenceOf, EverythingElseIsTheProblemsOwn) {
  StreamedQuartic<TypeParam> problem;
  FiniteDifferenceHvp<StreamedQuartic<TypeParam>> differenced(problem);
  const Vector<TypeParam> x = Vector<TypeParam>::Constant(2, TypeParam(0.5)),
                          y = Vector<TypeParam>::Constant(3, TypeParam(2));
  Vector<TypeParam> own_x(2), own_y(3), got_x(2), got_y(3);
  EXPECT_EQ(differenced.dims(), problem.dims());
  EXPECT_EQ(differenced.outer_value(x, y), problem.outer_value(x, y));
  EXPECT_EQ(differenced.inner_value(x, y), problem.inner_value(x, y));
  problem.outer_gradient_x(x, y, own_x);
  differenced.outer_gradient_x(x, y, got_x);
  EXPECT_EQ(got_x, own_x);
  problem.outer_gradient_y(x, y, own_y);
  differenced.outer_gradient_y(x, y, got_y);
  EXPECT_EQ(got_y, own_y);
  problem.inner_gradient_x(x, y, own_x);
  differenced.inner_gradient_x(x, y, got_x);
  EXPECT_EQ(got_x, own_x);
  problem.inner_gradient_y(x, y, own_y);
  differenced.inner_gradient_y(x, y, got_y);
  EXPECT_EQ(got_y, own_y);
}

TYPED_TEST(FiniteDifferenceOf, WhatTheProblemCanDoBesidesIsPassedOn) {
  StreamedQuartic<TypeParam> problem;
  FiniteDifferenceHvp<StreamedQuartic<TypeParam>> differenced(problem);
  Vector<TypeParam> x = Vector<TypeParam>::Zero(2), y = Vector<TypeParam>::Zero(3), out_x(2), out_y(3);
  Rng rng(1);
  differenced.reveal(5);
  EXPECT_EQ(problem.current, 5);
  differenced.resample({}, rng);
  EXPECT_TRUE(problem.sampled);
  differenced.expectation();
  EXPECT_FALSE(problem.sampled);
  differenced.inner_solution(x, out_y);
  EXPECT_EQ(out_y(2), TypeParam(7));
  differenced.inner_gradient_x_difference(x, y, y, out_x);
  EXPECT_EQ(out_x(1), TypeParam(8));
  differenced.inner_gradient_y_difference(x, y, y, out_y);
  EXPECT_EQ(out_y(2), TypeParam(9));
}

TYPED_TEST(FiniteDifferenceOf, ProductsAllocateNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Quartic<TypeParam> problem;
  FiniteDifferenceHvp<Quartic<TypeParam>> differenced(problem);
  const Vector<TypeParam> x = Vector<TypeParam>::Ones(2), y = Vector<TypeParam>::Ones(3), v = y;
  Vector<TypeParam> out_x(2), out_y(3);
  const test::AllocationCounter counter;
  differenced.inner_hvp_yy(x, y, v, out_y);
  differenced.inner_hvp_xy(x, y, v, out_x);
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_TRUE(out_x.allFinite() && out_y.allFinite());
}

}  // namespace
