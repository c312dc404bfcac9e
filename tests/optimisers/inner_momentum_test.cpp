// Momentum and weight decay of the inner and outer steps: m ← μm + G + wy, y ← y − s m.
#include <gtest/gtest.h>

#include <functional>

#include "obolus/core/heavy_ball.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/optimisers/trajectory.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;
using Plain = Quadratic<double>;

constexpr InnerStepOptions inner{.momentum = 0.5, .weight_decay = 0.3};
constexpr OuterStepOptions outer{.momentum = 0.4, .weight_decay = 0.2};

// ---- The penalty family, against the slow reference ----------------------------------------------------------------

template <class Optimiser, class Advance>
void compare_with_reference(const std::function<void(typename Optimiser::Options&)>& set_own, Advance&& advance) {
  for (const auto& [name, problem] : quadratic_streams()) {
    Plain ours(problem, 11), theirs(problem, 11);
    in_every_way(ours.dims().x, [&](const std::string& way, const SlowSet& set, WarmStart warm_start, BetaRule rule) {
      SCOPED_TRACE(name + ", " + way);
      auto o = family_options<typename Optimiser::Options>(warm_start, rule);
      o.alpha = 0.1;  // μ = ½ doubles a step in the long run
      o.beta = Schedule(0.01, -1.0);
      o.L_g1 = 8.6;
      o.inner = inner;
      o.outer = outer;
      set_own(o);
      expect_reference_trajectory<Optimiser>(ours, theirs, o, set, advance, [](const Step&, auto&) {});
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(InnerMomentum, F2oboFollowsTheReference) {
  compare_with_reference<F2obo>([](F2oboOptions& o) { o.inner_steps = 3.0; },
                                [](auto& reference, const Rng&) {
                                  reference.algorithm1();
                                  return true;
                                });
}

TEST(InnerMomentum, Af2oboFollowsTheReference) {
  compare_with_reference<Af2obo>(
      [](Af2oboOptions& o) {
        o.delta_y = 1e-2;
        o.delta_z = 1e-3;
        o.max_inner = 500;
      },
      [](auto& reference, const Rng&) {
        reference.algorithm2();
        return reference.closest > 1e-11;  // as in af2obo_test.cpp: a tie may go either way
      });
}

TEST(InnerMomentum, Sf2oboFollowsTheReferenceOnFreshSamples) {
  compare_with_reference<Sf2obo>(
      [](Sf2oboOptions& o) {
        o.inner_steps = 2.0;
        o.samples = Samples::fresh;
        o.batch = o.outer_batch = 4.0;
      },
      [](auto& reference, const Rng& rng) {
        reference.algorithm3(rng);
        return true;
      });
}

TEST(InnerMomentum, OtherSolversAndTheBalanceRefuseIt) {
  const auto refused = [](const F2oboOptions& o, const std::string& part) {
    try {
      F2obo optimiser(o, ConvexSet::all());
      ADD_FAILURE() << "accepted: " << part;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused({.inner_solver = InnerSolver::nesterov, .inner = {.momentum = 0.9}}, "nesterov");
  refused({.inner_solver = InnerSolver::backtracking, .inner = {.weight_decay = 0.1}}, "backtracking");
  refused({.lambda_rule = LambdaRule::balance, .inner = {.weight_decay = 0.1}}, "balance");
  refused({.inner = {.momentum = 1.0}}, "inner_momentum");
  EXPECT_NO_THROW(F2obo({.lambda_rule = LambdaRule::balance, .inner = {.momentum = 0.9}}, ConvexSet::all()));
}

// ---- Methods with one inner iterate ---------------------------------------------------------------------------------

// y, v and x of FSOBO and of AOBO with gradient steps on v, line by line.
struct SlowImplicit {
  Plain& p;
  double alpha, gamma;
  Real x, y, v, m, m_x, d;
  std::int64_t steps = 0;

  SlowImplicit(Plain& problem, double a, double g)
      : p(problem), alpha(a), gamma(g), x(first_x(p.dims())), y(first_y(p.dims())), v(y - y), m(v), m_x(x - x) {}

  Real g_y() {
    Real g(y.size());
    p.inner_gradient_y(x, y, g);
    return g + inner.weight_decay * y;
  }
  void step_y() {
    m = inner.momentum * m + g_y();
    y = y - alpha * m;
    ++steps;
  }
  void step_v() {
    Real f(y.size()), product(y.size());
    p.outer_gradient_y(x, y, f);
    p.inner_hvp_yy(x, y, v, product);
    v = v - alpha * (product + inner.weight_decay * v - f);
  }
  void step_x() {
    Real f(x.size()), cross(x.size());
    p.outer_gradient_x(x, y, f);
    p.inner_hvp_xy(x, y, v, cross);
    d = f - cross;
    m_x = outer.momentum * m_x + d + outer.weight_decay * x;
    x = x - gamma * m_x;
  }
};

template <class Optimiser, class Advance>
void compare_with_slow_implicit(const typename Optimiser::Options& o, Advance&& advance) {
  const QuadraticOptions problem = small_quadratic(Drift::slow, 0.7);
  Plain ours(problem, 11), theirs(problem, 11);
  Session<Optimiser, Plain> session(Optimiser(o, ConvexSet::all()), ours, first_x(ours.dims()), first_y(ours.dims()));
  SlowImplicit slow(theirs, o.alpha(1), o.gamma(1));
  Real y(ours.dims().y);
  for (Round t = 1; t <= compared_rounds; ++t) {
    ours.reveal(t);
    theirs.reveal(t);
    const Step step = session.step(Rng(1));
    slow.steps = 0;
    advance(slow);
    slow.step_x();
    session.read_y(y);
    EXPECT_EQ(step.steps_y, slow.steps) << t;
    expect_near<double>(y, slow.y, tolerance<double>(t), "y");
    expect_near<double>(session.direction(), slow.d, tolerance<double>(t), "d");
    expect_near<double>(session.x(), slow.x, tolerance<double>(t), "x");
  }
}

TEST(InnerMomentum, FsoboStepsWithItAndSolvesTheDecayedSystem) {
  compare_with_slow_implicit<Fsobo>({.alpha = 0.1, .gamma = 0.05, .inner = inner, .outer = outer},
                                    [](SlowImplicit& slow) {
                                      slow.step_y();
                                      slow.step_v();
                                    });
}

TEST(InnerMomentum, AoboEndsWhereTheDecayedGradientIsSmall) {
  compare_with_slow_implicit<Aobo>({.alpha = 0.1,
                                    .gamma = 0.05,
                                    .delta = 0.01,
                                    .system_steps = 2.0,
                                    .system_solver = SystemSolver::gd,
                                    .inner = inner,
                                    .outer = outer},
                                   [](SlowImplicit& slow) {
                                     while (slow.g_y().norm() > 0.01) slow.step_y();
                                     slow.step_v();
                                     slow.step_v();
                                   });
}

// OBBO's direction is the derivative of x ↦ f(x, ω^K(x)), ω^0 and m^0 as the round before left them. Central
// differences with h = 1e-5: h² times a third derivative below 10, and rounding of 1e-16/h.
TEST(InnerMomentum, ObboDifferentiatesThroughIt) {
  const std::int64_t K = 4;
  const double alpha = 0.1, h = 1e-5;
  Plain p(small_quadratic(Drift::slow, 0.7), 11);
  const Dims dims = p.dims();
  Session<Obbo, Plain> session(
      Obbo({.alpha = alpha, .gamma = 0.05, .inner_steps = static_cast<double>(K), .inner = inner}, ConvexSet::all()), p,
      first_x(dims), first_y(dims));
  Real y = first_y(dims), m = Real::Zero(dims.y), g(dims.y);
  const auto roll = [&](const Real& x, Real& y_end, Real& m_end) {
    for (std::int64_t k = 0; k < K; ++k) {
      p.inner_gradient_y(x, y_end, g);
      m_end = inner.momentum * m_end + g + inner.weight_decay * y_end;
      y_end = y_end - alpha * m_end;
    }
    return p.outer_value(x, y_end);
  };
  for (Round t = 1; t <= 3; ++t) {
    p.reveal(t);
    const Real x = session.x();
    session.step(Rng(1));
    for (Index i = 0; i < dims.x; ++i) {
      Real up = x, down = x, y_up = y, y_down = y, m_up = m, m_down = m;
      up[i] += h;
      down[i] -= h;
      const double slope = (roll(up, y_up, m_up) - roll(down, y_down, m_down)) / (2 * h);
      EXPECT_NEAR(session.direction()[i], slope, 1e-8) << "round " << t << ", coordinate " << i;
    }
    roll(x, y, m);
    Real ours(dims.y);
    session.read_y(ours);
    expect_near<double>(ours, y, tolerance<double>(t), "y");
  }
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

template <class Optimiser>
void expect_same_bits_after_resuming(const typename Optimiser::Options& o) {
  const QuadraticOptions problem = small_quadratic(Drift::slow, 0.7);
  Plain p(problem, 11);
  const Optimiser optimiser(o, ConvexSet::all());
  auto state = optimiser.init(p, first_x(p.dims()), first_y(p.dims()));
  for (Round t = 1; t <= 5; ++t) {
    p.reveal(t);
    (void)optimiser.step(p, state, Rng(1));
  }
  Archive saved;
  state.fields(saved);
  auto resumed = optimiser.init(p, first_x(p.dims()), first_y(p.dims()));
  Archive loaded(saved.bytes());
  resumed.fields(loaded);
  loaded.finish();
  p.reveal(6);
  (void)optimiser.step(p, state, Rng(1));
  (void)optimiser.step(p, resumed, Rng(1));
  EXPECT_EQ(state.x, resumed.x);
  EXPECT_EQ(state.direction, resumed.direction);
}

template <class Optimiser>
void expect_steps_without_allocation(const typename Optimiser::Options& o) {
  Plain p(small_quadratic(Drift::none, 0.7), 11);
  const Optimiser optimiser(o, ConvexSet::box(-1.0, 1.0));
  auto state = optimiser.init(p, first_x(p.dims()), first_y(p.dims()));
  const AllocationCounter counter;
  for (int round = 0; round < 3; ++round) (void)optimiser.step(p, state, Rng(1));
  EXPECT_EQ(counter.count(), 0u) << Optimiser::info.name;
}

TEST(InnerMomentum, AllocatesNothingInAStep) {
  if (!AllocationCounter::supported()) GTEST_SKIP();
  expect_steps_without_allocation<F2obo>({.warm_start = WarmStart::dual, .inner = inner, .outer = outer});
  expect_steps_without_allocation<Aobo>({.inner = inner, .outer = outer});
  expect_steps_without_allocation<Obbo>({.inner = inner, .outer = outer});
}

TEST(InnerMomentum, IsPartOfTheCheckpoint) {
  expect_same_bits_after_resuming<F2obo>({.inner = inner, .outer = outer});
  expect_same_bits_after_resuming<F2oboSingleLoop>({.warm_start = WarmStart::dual, .inner = inner, .outer = outer});
  expect_same_bits_after_resuming<Aobo>({.inner = inner, .outer = outer});
  expect_same_bits_after_resuming<Obbo>({.inner = inner, .outer = outer});
}

}  // namespace
