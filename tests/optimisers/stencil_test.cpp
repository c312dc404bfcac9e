// Penalties of order 1 … 5: the stencils themselves, and the bias they leave.
#include "obolus/optimisers/stencil.hpp"

#include <gtest/gtest.h>

#include "obolus/metrics/hypergradient.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "tests/optimisers/trajectory.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

// Σ a_j j^k is 1 for k = 1 and 0 for the other k ≤ p: what makes the difference exact for polynomials of degree p.
TEST(Stencil, IsExactForPolynomialsUpToItsOrder) {
  for (std::int64_t order = 1; order <= 5; ++order)
    for (int k = 0; k <= order; ++k) {
      double sum = 0.0;
      for (const StencilPoint& point : stencil(order)) sum += point.weight * std::pow(point.j, k);
      EXPECT_NEAR(sum, k == 1 ? 1.0 : 0.0, 1e-14) << "order " << order << ", degree " << k;
    }
}

TEST(Stencil, HasTheCommittedIterateAndThePlainOneWhereItSays) {
  for (std::int64_t order = 1; order <= 5; ++order) {
    int ones = 0, zeros = 0;
    for (const StencilPoint& point : stencil(order)) {
      ones += point.j == 1;
      zeros += point.j == 0;
    }
    EXPECT_EQ(ones, 1);
    EXPECT_EQ(zeros, has_plain_iterate(order) ? 1 : 0);
  }
}

QuadraticOptions still_problem() {
  QuadraticOptions o = small_quadratic(Drift::none, 0.7);
  o.weight = 0.5;
  return o;
}

// |d − ∇F| after one round whose inner loops are solved to rounding.
double bias(std::int64_t order, double lambda) {
  Quadratic<double> problem(still_problem(), 5);
  Af2oboOptions o;
  o.alpha = 0.2;
  o.gamma = 1e-9;
  o.lambda1 = lambda;
  o.tau = 0.0;
  o.delta_y = 1e-13 * lambda;
  o.delta_z = 1e-14;
  o.max_inner = 1000;
  o.order = order;
  const Real x = first_x(problem.dims()), y = first_y(problem.dims());
  OpenSession<Af2obo, Quadratic<double>> session(Af2obo(o, ConvexSet::all()), problem, x, y);
  EXPECT_EQ(session.step(Rng(1)).status, Status::ok);
  Real exact(problem.dims().x);
  Hypergradient<Quadratic<double>> hypergradient(problem);
  EXPECT_TRUE(hypergradient(problem, x, exact));
  return (session.direction() - exact).norm();
}

// The next term of the bias is of order p + 1: between λ and 2λ the slope is off by O(1/λ), at most 0.15 here. Rounding
// leaves λ 1e-14/μ in d, a hundredth of the smallest bias compared.
TEST(Stencil, TheBiasFallsWithThePowerOfItsOrder) {
  for (std::int64_t order = 1; order <= 5; ++order) {
    std::vector<double> at, error;
    for (const double lambda : order < 4 ? std::vector{64.0, 128.0, 256.0} : std::vector{24.0, 48.0, 72.0}) {
      at.push_back(lambda);
      error.push_back(bias(order, lambda));
    }
    EXPECT_NEAR(-fitted_slope(at, error), static_cast<double>(order), 0.15) << "order " << order;
  }
}

TEST(Stencil, AHigherOrderIsCloserAtTheSameLambda) {
  for (std::int64_t order = 2; order <= 5; ++order) EXPECT_LT(bias(order, 32.0), 0.5 * bias(order - 1, 32.0)) << order;
}

// Order 2 costs 2K g_y, 2K f_y, 2 f_x and 2 g_x; another y_j costs K more of each, f_y only where j ≠ 0.
TEST(Stencil, ARoundCostsWhatItsCopiesCost) {
  for (std::int64_t order = 1; order <= 5; ++order) {
    Quadratic<double> problem(still_problem(), 5);
    F2oboOptions o;
    o.lambda1 = 20.0;
    o.order = order;
    o.inner_steps = 7.0;
    OpenSession<F2obo, Quadratic<double>> session(F2obo(o, ConvexSet::all()), problem, first_x(problem.dims()),
                                                  first_y(problem.dims()));
    session.step(Rng(1));
    const auto copies = static_cast<std::int64_t>(stencil(order).size());
    const std::int64_t penalised = copies - (has_plain_iterate(order) ? 1 : 0);
    const OracleCounts expected{.f_x = penalised, .f_y = 7 * penalised, .g_x = copies, .g_y = 7 * copies};
    EXPECT_EQ(session.counts(), expected) << "order " << order;
  }
}

// Order 1 on a stencil is the pair: nesterov's first step has no momentum, so K = 1 must agree exactly.
TEST(Stencil, OneNesterovStepIsOneGradientStep) {
  Quadratic<double> one(still_problem(), 5), other(still_problem(), 5);
  F2oboOptions o;
  o.inner_steps = 1.0;
  OpenSession<F2obo, Quadratic<double>> plain(F2obo(o, ConvexSet::all()), one, first_x(one.dims()),
                                              first_y(one.dims()));
  o.inner_solver = InnerSolver::nesterov;
  OpenSession<F2obo, Quadratic<double>> momentum(F2obo(o, ConvexSet::all()), other, first_x(one.dims()),
                                                 first_y(one.dims()));
  for (Round t = 1; t <= 20; ++t) {
    plain.step(Rng(1));
    momentum.step(Rng(1));
  }
  EXPECT_LE((plain.x() - momentum.x()).norm(), 1e-13);
}

// Order 2 in the mean and half difference of y_±1 is order 2 in y_±1, while λ is constant. Both round as `tolerance`
// says, with λ = 20 for its 60.
template <class Optimiser, class Options>
void centred_form_is_the_stencil(Options o) {
  QuadraticOptions q = small_quadratic(Drift::abrupt, 0.3);
  q.noise = 0.2;
  q.weight = 0.5;
  Quadratic<double> one(q, 5), other(q, 5);
  o.alpha = 0.2;
  o.gamma = 0.02;
  o.lambda1 = 20.0;
  o.tau = 0.0;
  o.order = 2;
  o.inner_steps = 5.0;
  o.warm_start = WarmStart::separate;
  OpenSession<Optimiser, Quadratic<double>> copies(Optimiser(o, ConvexSet::all()), one, first_x(one.dims()),
                                                   first_y(one.dims()));
  o.warm_start = WarmStart::dual;
  OpenSession<Optimiser, Quadratic<double>> centred(Optimiser(o, ConvexSet::all()), other, first_x(one.dims()),
                                                    first_y(one.dims()));
  for (Round t = 1; t <= compared_rounds; ++t) {
    one.reveal(t);
    other.reveal(t);
    ASSERT_EQ(copies.step(Rng(1)).status, Status::ok);
    ASSERT_EQ(centred.step(Rng(1)).status, Status::ok);
    expect_near<double>(centred.x(), copies.x(), tolerance<double>(t), "x");
    expect_near<double>(centred.direction(), copies.direction(), tolerance<double>(t), "d");
    EXPECT_EQ(centred.counts(), copies.counts());
  }
  EXPECT_GT((copies.x() - first_x(one.dims())).norm(), 1e-3) << "x must move for the test to mean anything";
}
TEST(Stencil, OrderTwoInItsCentredFormIsOrderTwoInItsCopies) {
  centred_form_is_the_stencil<F2obo>(F2oboOptions{});
  for (const Samples samples : {Samples::round, Samples::fresh, Samples::given}) {
    Sf2oboOptions o;
    o.samples = samples;
    centred_form_is_the_stencil<Sf2obo>(o);
  }
}

// Backtracking finds a step by itself: α_1 is a hundred times 1/L and the run still converges.
TEST(Stencil, BacktrackingNeedsNoLipschitzConstant) {
  Quadratic<double> problem(still_problem(), 5);
  F2oboOptions o;
  o.alpha = 25.0;
  o.gamma = 0.1;
  o.lambda1 = 20.0;
  o.inner_steps = 5.0;
  o.inner_solver = InnerSolver::backtracking;
  o.order = 2;
  OpenSession<F2obo, Quadratic<double>> session(F2obo(o, ConvexSet::all()), problem, first_x(problem.dims()),
                                                first_y(problem.dims()));
  for (Round t = 1; t <= 1500; ++t) ASSERT_EQ(session.step(Rng(1)).status, Status::ok) << t;
  Real exact(problem.dims().x);
  Hypergradient<Quadratic<double>> hypergradient(problem);
  ASSERT_TRUE(hypergradient(problem, session.x(), exact));
  EXPECT_LT(exact.norm(), 1e-3);
}

// At x = 0 the oscillating problem has y* = 0 in every round, the start is the solution, and every step is short
// enough: the step size must not grow without bound.
TEST(Stencil, BacktrackingRestsAtASolution) {
  Oscillation<double> problem(OscillationOptions{}, 1);
  F2oboOptions o;
  o.inner_solver = InnerSolver::backtracking;
  const Real zero = Real::Zero(1);
  OpenSession<F2obo, Oscillation<double>> session(F2obo(o, ConvexSet::box(-1, 1)), problem, zero, zero);
  for (Round t = 1; t <= 2000; ++t) {
    problem.reveal(t);
    ASSERT_EQ(session.step(Rng(1)).status, Status::ok) << "round " << t;
  }
}

}  // namespace
