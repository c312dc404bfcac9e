#include "obolus/metrics/variation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "obolus/problems/oscillation.hpp"
#include "obolus/problems/quadratic.hpp"

namespace obolus {
namespace {

const ConvexSet box = ConvexSet::box(-1, 1);

// The same problem with its closed forms hidden.
template <class P>
struct Unknowing : P {
  using P::P;
  Variation variation(Round, const ConvexSet&) const { return {}; }
};

template <class P>
VariationMeter<P> measured(P& problem, Round rounds, std::int64_t points = 64) {
  VariationMeter<P> meter(problem, box, points, Rng(1));
  for (Round t = 1; t <= rounds; ++t) {
    problem.reveal(t);
    meter.add(problem, t);
  }
  return meter;
}

TEST(VariationMeter, SumsThePapersClosedFormsOfTheOscillation) {
  Oscillation<double> problem({}, 1);
  const auto meter = measured(problem, 11);
  EXPECT_EQ(meter.V.sum, 0.0);
  EXPECT_EQ(meter.H2.sum, 4.0 * 10);  // H_2T = 4(T − 1)
  EXPECT_EQ(meter.Ef.sum, 0.0);
  EXPECT_EQ(meter.Eg.sum, 4.0 * 10);  // μ² |2x|² at the ends
  EXPECT_EQ(meter.summary().P().sum, 80.0);
  EXPECT_TRUE(meter.V.exact && meter.H2.exact && meter.Ef.exact && meter.Eg.exact);
}

TEST(VariationMeter, AnEstimateFallsShortOfTheClosedFormAndSaysSo) {
  const QuadraticOptions options{.dim_x = 2, .dim_y = 3, .drift = Drift::slow};
  Quadratic<double> knowing(options, 1);
  Unknowing<Quadratic<double>> guessing(options, 1);
  const auto exact = measured(knowing, 20);
  const auto estimate = measured(guessing, 20);
  EXPECT_FALSE(estimate.V.exact || estimate.H2.exact || estimate.Ef.exact || estimate.Eg.exact);
  EXPECT_TRUE(exact.V.exact && exact.H2.exact && exact.Ef.exact && exact.Eg.exact);
  // y* and the gradients in y move by the same vector everywhere: any sample finds it, to rounding.
  EXPECT_NEAR(estimate.H2.sum, exact.H2.sum, 1e-12 * exact.H2.sum);
  EXPECT_NEAR(estimate.Eg.sum, exact.Eg.sum, 1e-12 * exact.Eg.sum);
  EXPECT_EQ(estimate.Ef.sum, exact.Ef.sum);
  // F's change is affine in x: a sample inside the box comes below its corner, and near it.
  EXPECT_LE(estimate.V.sum, exact.V.sum * (1 + 1e-12));
  EXPECT_GT(estimate.V.sum, 0.5 * exact.V.sum);
}

TEST(VariationMeter, ARoundThatDoesNotChangeAddsNothingEvenWithASine) {
  Quadratic<double> problem({.drift = Drift::none, .sine = 0.5}, 1);
  const auto meter = measured(problem, 5);
  EXPECT_EQ(meter.V.sum, 0.0);
  EXPECT_TRUE(meter.V.exact);
}

TEST(VariationMeter, LeavesTheRoundItWasGivenCurrent) {
  Unknowing<Oscillation<double>> problem({}, 1);
  VariationMeter<Unknowing<Oscillation<double>>> meter(problem, box, 4, Rng(1));
  problem.reveal(7);
  const Vector<double> one = Vector<double>::Ones(1);
  Vector<double> expected(1), got(1);
  problem.inner_gradient_y(one, one, expected);
  meter.add(problem, 7);
  problem.inner_gradient_y(one, one, got);
  EXPECT_EQ(got, expected);
}

// The same problem without closed form of any kind: only gradients, products and rounds.
struct Bare {
  using Scalar = double;
  explicit Bare(const QuadraticOptions& options) : problem(options, 1) {}
  [[nodiscard]] Dims dims() const { return problem.dims(); }
  void reveal(Round t) { problem.reveal(t); }
  double outer_value(In<double> x, In<double> y) { return problem.outer_value(x, y); }
  double inner_value(In<double> x, In<double> y) { return problem.inner_value(x, y); }
  void outer_gradient_x(In<double> x, In<double> y, Out<double> d) { problem.outer_gradient_x(x, y, d); }
  void outer_gradient_y(In<double> x, In<double> y, Out<double> d) { problem.outer_gradient_y(x, y, d); }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) { problem.inner_gradient_x(x, y, d); }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) { problem.inner_gradient_y(x, y, d); }
  Quadratic<double> problem;
};

TEST(VariationMeter, WhatWasNeitherKnownNorSolvedIsNotMeasured) {
  Bare problem({.dim_x = 2, .dim_y = 3, .drift = Drift::slow});
  const VariationSummary s = measured(problem, 5).summary();
  EXPECT_EQ(s.V.kind(), "not measured");
  EXPECT_EQ(s.H2.kind(), "not measured");
  EXPECT_EQ(s.P().kind(), "not measured");
  EXPECT_EQ(s.Ef.kind(), "estimate");
  EXPECT_EQ(s.Eg.kind(), "estimate");
  EXPECT_TRUE(std::isnan(s.V.sum) && std::isnan(s.H2.sum) && std::isnan(s.P().sum));
}

TEST(VariationMeter, SolvesTheInnerProblemWhereItIsAskedTo) {
  const QuadraticOptions options{.dim_x = 2, .dim_y = 3, .drift = Drift::slow};
  Bare bare(options);
  Unknowing<Quadratic<double>> closed(options, 1);
  VariationMeter<Bare> solving(bare, box, 16, Rng(1), true);
  for (Round t = 1; t <= 20; ++t) {
    bare.reveal(t);
    solving.add(bare, t);
  }
  const auto expected = measured(closed, 20, 16);  // the same sample points
  EXPECT_EQ(solving.summary().H2.kind(), "estimate");
  // Products are differences here: y* is found to the tolerance of the reference solve, 1e-12 of |g_y(x, 0)|.
  EXPECT_NEAR(solving.H2.sum, expected.H2.sum, 1e-9 * expected.H2.sum);
  EXPECT_NEAR(solving.V.sum, expected.V.sum, 1e-9 * expected.V.sum);
}

TEST(VariationMeter, ResumedSolvesGiveTheSameBits) {
  const QuadraticOptions options{.dim_x = 2, .dim_y = 3, .drift = Drift::slow, .sine = 0.5};
  Bare problem(options);
  const auto run = [&](VariationMeter<Bare>& meter, Round first, Round last) {
    for (Round t = first; t <= last; ++t) {
      problem.reveal(t);
      meter.add(problem, t);
    }
  };
  VariationMeter<Bare> whole(problem, box, 4, Rng(1), true), part = whole, resumed = whole;
  run(whole, 1, 10);
  run(part, 1, 6);
  Archive saved;
  part.fields(saved);
  Archive loaded(saved.bytes());
  resumed.fields(loaded);
  loaded.finish();
  run(resumed, 7, 10);
  EXPECT_EQ(resumed.V.sum, whole.V.sum);
  EXPECT_EQ(resumed.H2.sum, whole.H2.sum);
}

TEST(VariationMeter, ResumesFromWhatItSaved) {
  Unknowing<Oscillation<double>> problem({}, 1);
  auto whole = measured(problem, 10), part = measured(problem, 6);
  Archive saved;
  part.fields(saved);
  auto resumed = measured(problem, 0);
  Archive loaded(saved.bytes());
  resumed.fields(loaded);
  for (Round t = 7; t <= 10; ++t) {
    problem.reveal(t);
    resumed.add(problem, t);
  }
  EXPECT_EQ(resumed.H2.sum, whole.H2.sum);
  EXPECT_EQ(resumed.H2.exact, whole.H2.exact);
}

}  // namespace
}  // namespace obolus
