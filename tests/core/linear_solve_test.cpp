#include "obolus/core/linear_solve.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "obolus/core/rng.hpp"
#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;

template <class S>
CgResult solve(const Matrix<S>& a, const Vector<S>& rhs, Vector<S>& v, const CgOptions& options = {}) {
  CgWorkspace<S> work(rhs.size());
  return conjugate_gradient<S>([&](In<S> p, Out<S> out) { out.noalias() = a * p; }, rhs, v, work, options);
}

template <class S>
Vector<S> vector(std::initializer_list<double> values) {
  Vector<S> v(static_cast<Index>(values.size()));
  Index i = 0;
  for (const double value : values) v(i++) = static_cast<S>(value);
  return v;
}

template <class S>
Matrix<S> diagonal(std::initializer_list<double> values) {
  return vector<S>(values).asDiagonal();
}

// A = I + BBᵀ/n has eigenvalues in [1, 1 + |B|²/n] with |B|² ≤ |B|_F².
template <class S>
void check_against_cholesky(std::uint64_t seed, Index n, bool warm) {
  Rng rng(seed);
  Matrix<S> b(n, n);
  Vector<S> rhs(n), v = Vector<S>::Zero(n);
  rng.fill_normal(b);
  rng.fill_normal(rhs);
  if (warm) rng.fill_normal(v);
  const Matrix<S> a = Matrix<S>::Identity(n, n) + b * b.transpose() / static_cast<S>(n);
  const double condition = 1.0 + b.template cast<double>().squaredNorm() / static_cast<double>(n);
  const double start = v.template cast<double>().norm();

  const CgResult result = solve<S>(a, rhs, v);
  const Vector<double> exact = a.template cast<double>().llt().solve(rhs.template cast<double>());
  // The true residual drifts from the recursion's by a few ε|A|(|v| + |start|) per iteration, and |A⁻¹| ≤ 1. Rounding
  // may cost iterations beyond n; 4n + 10 is far above what it does here.
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const double error = (v.template cast<double>() - exact).norm();
  RC_ASSERT(result.converged);
  RC_ASSERT(result.iterations <= 4 * n + 10);
  RC_ASSERT(result.products == result.iterations + (warm ? 1 : 0));
  RC_ASSERT(error <= 4.0 * epsilon * condition * static_cast<double>(n + 2) * (exact.norm() + start));
}

RC_GTEST_PROP(LinearSolveProperty, SolutionsAgreeWithCholesky, (std::uint64_t seed, bool warm)) {
  const Index n = *rc::gen::inRange(1, 30);
  check_against_cholesky<double>(seed, n, warm);
  check_against_cholesky<float>(seed, n, warm);
}

template <class S>
class LinearSolveOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearSolveOf, Scalars);

TYPED_TEST(LinearSolveOf, AsManyIterationsAsDistinctEigenvaluesSuffice) {
  const auto a = diagonal<TypeParam>({1, 1, 2, 2, 4, 4, 4});
  const Vector<TypeParam> rhs = vector<TypeParam>({1, -1, 3, 2, 5, 0, 1});
  Vector<TypeParam> v = Vector<TypeParam>::Zero(7);
  const CgResult result = solve<TypeParam>(a, rhs, v, {.relative_tolerance = 1e-5});
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_LE(result.residual_norm, 1e-5 * static_cast<double>(rhs.norm()));
}

TYPED_TEST(LinearSolveOf, AWarmStartAtTheSolutionCostsOneProductAndStays) {
  const auto a = diagonal<TypeParam>({1, 2, 4});
  Vector<TypeParam> v = vector<TypeParam>({3, 2, 1});
  const CgResult result = solve<TypeParam>(a, vector<TypeParam>({3, 4, 4}), v);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.products, 1);
  EXPECT_EQ(result.residual_norm, 0.0);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(v, vector<TypeParam>({3, 2, 1}));
}

TYPED_TEST(LinearSolveOf, AStartOfZeroSavesTheFirstProduct) {
  Vector<TypeParam> v = Vector<TypeParam>::Zero(3);
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({2, 2, 2}), vector<TypeParam>({2, 4, 6}), v);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.products, 1);
  EXPECT_EQ(v, vector<TypeParam>({1, 2, 3}));
}

TYPED_TEST(LinearSolveOf, AZeroRightSideIsSolvedByZeroWithoutAProduct) {
  Vector<TypeParam> v = vector<TypeParam>({3, 2, 1});
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({1, 2, 4}), vector<TypeParam>({0, 0, 0}), v);
  EXPECT_EQ(result.products, 0);
  EXPECT_EQ(result.residual_norm, 0.0);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(v, vector<TypeParam>({0, 0, 0}));
}

TYPED_TEST(LinearSolveOf, DampingAddsToTheDiagonalForWarmAndColdStarts) {
  for (const double start : {0.0, 5.0}) {
    Vector<TypeParam> v = Vector<TypeParam>::Constant(2, static_cast<TypeParam>(start));
    const CgResult result =
        solve<TypeParam>(diagonal<TypeParam>({0.5, 1.5}), vector<TypeParam>({1, 4}), v, {.damping = 0.5});
    EXPECT_TRUE(result.converged);
    // Two unknowns, condition 2: a few ulps of the start.
    EXPECT_LE((v - vector<TypeParam>({1, 2})).norm(), 40 * std::numeric_limits<TypeParam>::epsilon());
  }
}

TYPED_TEST(LinearSolveOf, NegativeCurvatureStopsAtTheLastGoodIterate) {
  // p₀ = (2, 1), <p₀, Ap₀> = 3 > 0: one step of 5/3; the next direction meets the negative eigenvalue.
  Vector<TypeParam> v = Vector<TypeParam>::Zero(2);
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({1, -1}), vector<TypeParam>({2, 1}), v);
  EXPECT_TRUE(result.negative_curvature);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.non_finite);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.products, 2);
  const TypeParam step = TypeParam(5) / TypeParam(3);
  EXPECT_EQ(v, vector<TypeParam>({2, 1}) * step);
}

TYPED_TEST(LinearSolveOf, AMatrixOfZerosIsRefusedAtOnce) {
  Vector<TypeParam> v = vector<TypeParam>({7, 8});
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({0, 0}), vector<TypeParam>({2, 1}), v);
  EXPECT_TRUE(result.negative_curvature);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(v, vector<TypeParam>({7, 8}));
}

TYPED_TEST(LinearSolveOf, ANaNFromTheOracleLeavesTheLastGoodIterate) {
  Vector<TypeParam> v = Vector<TypeParam>::Zero(2);
  CgWorkspace<TypeParam> work(2);
  int calls = 0;
  const auto apply = [&](In<TypeParam> p, Out<TypeParam> out) {
    out = p.cwiseProduct(vector<TypeParam>({1, 3}));
    if (++calls == 2) out(0) = std::numeric_limits<TypeParam>::quiet_NaN();
  };
  const Vector<TypeParam> rhs = vector<TypeParam>({1, 1});
  const CgResult result = conjugate_gradient<TypeParam>(apply, rhs, v, work, {});
  EXPECT_TRUE(result.non_finite);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.negative_curvature);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(v, vector<TypeParam>({0.5, 0.5}));
}

TYPED_TEST(LinearSolveOf, ANonFiniteRightSideOrStartIsReportedAndNotIteratedOn) {
  for (const TypeParam bad :
       {std::numeric_limits<TypeParam>::quiet_NaN(), std::numeric_limits<TypeParam>::infinity()}) {
    Vector<TypeParam> v = Vector<TypeParam>::Zero(2), rhs = vector<TypeParam>({1, 1});
    rhs(1) = bad;
    CgResult result = solve<TypeParam>(diagonal<TypeParam>({1, 2}), rhs, v);
    EXPECT_TRUE(result.non_finite);
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(v, vector<TypeParam>({0, 0}));
    v(0) = bad;
    result = solve<TypeParam>(diagonal<TypeParam>({1, 2}), vector<TypeParam>({1, 1}), v);
    EXPECT_TRUE(result.non_finite);
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.iterations, 0);
  }
}

TYPED_TEST(LinearSolveOf, TheIterationLimitIsKeptAndReported) {
  Vector<TypeParam> v = Vector<TypeParam>::Zero(4);
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({1, 10, 100, 1000}), vector<TypeParam>({1, 1, 1, 1}), v,
                                           {.max_iterations = 2});
  EXPECT_EQ(result.iterations, 2);
  EXPECT_EQ(result.products, 2);
  EXPECT_FALSE(result.converged);
  EXPECT_GT(result.residual_norm, 0.0);
}

TYPED_TEST(LinearSolveOf, AToleranceBelowTheScalarsEpsilonDoesNotGoOnForever) {
  Vector<TypeParam> v = Vector<TypeParam>::Zero(3);
  const CgResult result = solve<TypeParam>(diagonal<TypeParam>({1, 3, 7}), vector<TypeParam>({1, 1, 1}), v,
                                           {.max_iterations = 1'000'000, .relative_tolerance = 0.0});
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.iterations, 6);
}

TYPED_TEST(LinearSolveOf, DotProductsAccumulateInDouble) {
  Vector<TypeParam> rhs = Vector<TypeParam>::Ones(10'001), v = Vector<TypeParam>::Zero(10'001);
  rhs(0) = TypeParam(1e4);  // in float, 1e8 + 1 is 1e8
  CgWorkspace<TypeParam> work(rhs.size());
  const CgResult result = conjugate_gradient<TypeParam>([](In<TypeParam> p, Out<TypeParam> out) { out = p; }, rhs, v,
                                                        work, {.max_iterations = 0});
  EXPECT_EQ(result.residual_norm, std::sqrt(1e8 + 1e4));
}

TYPED_TEST(LinearSolveOf, NothingIsAllocated) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const Vector<TypeParam> eigenvalues = Vector<TypeParam>::LinSpaced(50, TypeParam(1), TypeParam(9));
  const Vector<TypeParam> rhs = Vector<TypeParam>::Ones(50);
  Vector<TypeParam> v = Vector<TypeParam>::Constant(50, TypeParam(0.5));
  CgWorkspace<TypeParam> work(50);
  const auto apply = [&](In<TypeParam> p, Out<TypeParam> out) { out = p.cwiseProduct(eigenvalues); };
  const test::AllocationCounter counter;
  const CgResult result = conjugate_gradient<TypeParam>(apply, rhs, v, work, {.damping = 0.1});
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_TRUE(result.converged);
}

}  // namespace
