#include "obolus/optimisers/fixed.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "obolus/any/session.hpp"
#include "obolus/problems/quadratic.hpp"
#include "tests/conformance/witnesses.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;
using Real = Vector<double>;

QuadraticOptions quadratic(Drift drift) {
  QuadraticOptions o;
  o.dim_x = 3;
  o.dim_y = 4;
  o.condition = 4.0;
  o.drift = drift;
  o.noise = 0.3;
  o.noise_cross = 0.1;
  return o;
}

const Real x1 = Real::LinSpaced(3, -0.9, 0.4), y1 = Real::LinSpaced(4, 0.3, -0.2);

Session<Fixed, Quadratic<double>> open(Quadratic<double>& p, const FixedOptions& options,
                                       const ConvexSet& set = ConvexSet::all()) {
  return {Fixed(options, set), p, x1, y1};
}

TEST(Fixed, LeavesXWhereTheStartPutIt) {
  for (const Samples samples : {Samples::given, Samples::round, Samples::fresh}) {
    Quadratic<double> p(quadratic(Drift::slow), 3);
    auto session = open(p, {.samples = samples, .batch = 4.0}, ConvexSet::box(-0.5, 0.5));
    const Real x = session.x();
    EXPECT_EQ(x, x1.cwiseMax(-0.5).cwiseMin(0.5));
    for (Round t = 1; t <= 20; ++t) {
      p.reveal(t);
      EXPECT_EQ(session.step(Rng(1)).status, Status::ok);
      EXPECT_EQ(session.x(), x);
      EXPECT_EQ(session.direction(), Real::Zero(3));
    }
  }
}

// K steps contract by 1 − αμ each: 0.8^(5·60) = 1e-29 of the start is left, and rounding of 4ε/(αμ) a coordinate.
TEST(Fixed, FindsTheInnerSolutionOfAStillStream) {
  Quadratic<double> p(quadratic(Drift::none), 3);
  auto session = open(p, {.alpha = 0.2});
  for (Round t = 1; t <= 60; ++t) {
    p.reveal(t);
    session.step(Rng(1));
  }
  Real y(4), solution(4);
  session.read_y(y);
  p.inner_solution(x1, solution);
  EXPECT_LE((y - solution).norm(), 4 * 2 * 20 * 2.3e-16 * std::max(1.0, solution.norm()));
}

TEST(Fixed, TakesItsStepsOnTheRevealedRoundAndAsksForNothingElse) {
  Quadratic<double> p(quadratic(Drift::abrupt), 3), q(quadratic(Drift::abrupt), 3);
  auto session = open(p, {.alpha = 0.15, .inner_steps = 3.0});
  Real expected = y1, y(4), gradient(4);
  for (Round t = 1; t <= 10; ++t) {
    p.reveal(t);
    q.reveal(t);
    const Step step = session.step(Rng(1));
    for (int k = 0; k < 3; ++k) {
      q.inner_gradient_y(x1, expected, gradient);
      expected -= 0.15 * gradient;
    }
    session.read_y(y);
    EXPECT_LE((y - expected).norm(), 1e-14 * std::max(1.0, expected.norm())) << "round " << t;
    EXPECT_EQ(step.inner_iterations, 3);
    EXPECT_FALSE(step.penalised);
  }
  EXPECT_EQ(session.counts(), (OracleCounts{.g_y = 30}));
}

TEST(Fixed, StopsAtATolerance) {
  Quadratic<double> p(quadratic(Drift::abrupt), 3), q(quadratic(Drift::abrupt), 3);
  auto session = open(p, {.alpha = 0.15, .inner_steps = 40.0, .tolerance = 0.01});
  Real y(4), gradient(4);
  for (Round t = 1; t <= 10; ++t) {
    p.reveal(t);
    q.reveal(t);
    const Step step = session.step(Rng(1));
    session.read_y(y);
    q.inner_gradient_y(x1, y, gradient);
    EXPECT_EQ(step.capped, gradient.norm() > 0.01);
    EXPECT_TRUE(step.steps_y == 40 || gradient.norm() <= 0.01);
  }
  EXPECT_LT(session.counts().g_y, 10 * 41);
}

TEST(Fixed, AToleranceNeedsOneFunctionARound) {
  Quadratic<double> p(quadratic(Drift::slow), 3);
  EXPECT_THROW(open(p, {.tolerance = 0.1, .samples = Samples::fresh}), ConfigError);
}

TEST(Fixed, SaysSoWhenWhatItStopsAtIsNotANumber) {
  Quadratic<double> p(quadratic(Drift::slow), 3);
  Session<Fixed, Quadratic<double>> session(Fixed({.tolerance = 0.1}, ConvexSet::all()), p, x1,
                                            Real::Constant(4, std::numeric_limits<double>::infinity()));
  p.reveal(1);
  EXPECT_EQ(session.step(Rng(1)).status, Status::non_finite_inner);
}

TEST(Fixed, DrawsOnceARoundOrForEveryStepWhenAskedTo) {
  const auto drawn = [](Samples samples) {
    Quadratic<double> p(quadratic(Drift::slow), 3);
    auto session = open(p, {.inner_steps = 3.0, .samples = samples, .batch = 4.0});
    for (Round t = 1; t <= 10; ++t) {
      p.reveal(t);
      session.step(Rng(1));
    }
    return session.counts().samples;
  };
  EXPECT_EQ(drawn(Samples::given), 0);
  EXPECT_EQ(drawn(Samples::round), 10 * 2 * 4);
  EXPECT_EQ(drawn(Samples::fresh), 10 * 3 * 2 * 4);
}

TEST(Fixed, NeedsSamplesOnlyWhereItDraws) {
  FirstOrderOnly p;
  const Real one = Real::Ones(1);
  Session<Fixed, FirstOrderOnly> session(Fixed({}, ConvexSet::all()), p, one, one);
  EXPECT_EQ(session.step(Rng(1)).status, Status::ok);
  EXPECT_THROW((Session<Fixed, FirstOrderOnly>(Fixed({.samples = Samples::round}, ConvexSet::all()), p, one, one)),
               ConfigError);
}

}  // namespace
