#include "obolus/metrics/variation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "obolus/problems/oscillation.hpp"
#include "obolus/problems/quadratic.hpp"
#include "obolus/problems/quadratic_file.hpp"

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
  EXPECT_EQ(meter.Efx.sum, 0.0);
  EXPECT_EQ(meter.Egyy.sum, 0.0);
  EXPECT_EQ(meter.Egxy.sum, 4.0 * 10);  // |±2μ|²
  const VariationSummary s = meter.summary();
  EXPECT_EQ(s.P().sum, 80.0);
  EXPECT_EQ(s.E2().sum, 0.0);
  EXPECT_EQ(s.Psi().sum, 120.0);
  for (const auto& [name, part] : variation_parts) EXPECT_EQ((s.*part).kind(), "exact") << name;
  for (const auto& [name, sum] : variation_totals) EXPECT_EQ((s.*sum)().kind(), "exact") << name;
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

// Two rounds in turn, which differ in everything but w, s and r.
std::vector<QuadraticRound<double>> turning() {
  QuadraticRound<double> a, b;
  a.A = Matrix<double>{{2.0, 0.0}, {0.0, 2.0}};
  b.A = Matrix<double>{{2.0, 1.0}, {1.0, 2.0}};  // the change has eigenvalues ±1
  a.B = Matrix<double>{{1.0}, {0.0}};
  b.B = Matrix<double>{{1.0}, {3.0}};
  a.b = a.c = b.b = Vector<double>::Zero(2);
  b.c = Vector<double>::Constant(2, 1.0);
  a.e = Vector<double>::Zero(1);
  b.e = Vector<double>::Constant(1, 2.0);
  a.w = b.w = 1.5;
  a.r = b.r = 0.5;
  return {a, b};
}

TEST(VariationMeter, KnowsHowHessiansAndOuterGradientsOfQuadraticsChange) {
  QuadraticFile<double> problem(turning(), {});
  const VariationSummary s = measured(problem, 3).summary();
  EXPECT_NEAR(s.Egyy.sum, 2 * 1.0, 1e-14);
  EXPECT_NEAR(s.Egxy.sum, 2 * 9.0, 1e-13);
  EXPECT_EQ(s.Efx.sum, 2 * 0.25 * 4.0);       // r² |e_2 − e_1|²
  EXPECT_EQ(s.Ef.sum, 2 * 2.25 * 2.0);        // w² |c_2 − c_1|²
  EXPECT_NEAR(s.E2().sum, 9.0 + 2.0, 1e-13);  // E^f_y + E^g_yy
  EXPECT_EQ(s.E2().kind(), "exact");
  EXPECT_EQ(s.Psi().kind(), "estimate");  // y* and ∇_y g have no closed supremum when A changes
  EXPECT_EQ(s.Psi().sum, s.P().sum + s.Efx.sum + s.Egxy.sum + s.Egyy.sum);
}

TEST(VariationMeter, AnEstimatedHessianIsNoLargerThanItsSpectralNorm) {
  QuadraticFile<double> knowing(turning(), {});
  Unknowing<QuadraticFile<double>> guessing(turning(), {});
  const VariationSummary exact = measured(knowing, 5).summary(), seen = measured(guessing, 5).summary();
  for (const auto& [name, part] : variation_parts) EXPECT_EQ((seen.*part).kind(), "estimate") << name;
  EXPECT_NEAR(seen.Egyy.sum, exact.Egyy.sum, 1e-13);  // ±1 are its eigenvalues: any unit vector shows the norm
  EXPECT_LE(seen.Egxy.sum, exact.Egxy.sum * (1 + 1e-14));
  EXPECT_GT(seen.Egxy.sum, 0.9 * exact.Egxy.sum);   // (3u_2)² of the best of 64 unit vectors in the plane
  EXPECT_NEAR(seen.Efx.sum, exact.Efx.sum, 1e-14);  // the same everywhere
}

// Checkpoints of older builds end after E^g_y.
TEST(VariationMeter, WhatAnOlderCheckpointDidNotMeasureStaysUnmeasured) {
  Oscillation<double> problem({}, 1);
  auto meter = measured(problem, 6);
  Archive saved;
  saved("V", meter.V);
  saved("H2", meter.H2);
  saved("Ef", meter.Ef);
  saved("Eg", meter.Eg);
  auto resumed = measured(problem, 0);
  Archive loaded(saved.bytes());
  resumed.fields(loaded);
  loaded.finish();
  problem.reveal(7);
  resumed.add(problem, 7);
  EXPECT_EQ(resumed.summary().P().sum, 8.0 * 6);
  for (const VariationSum& sum : {resumed.Efx, resumed.Egyy, resumed.Egxy, resumed.summary().Psi()})
    EXPECT_EQ(sum.kind(), "not measured");
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
  EXPECT_EQ(s.Efx.kind(), "estimate");
  for (const VariationSum& sum : {s.Egyy, s.Egxy, s.E2(), s.Psi()}) EXPECT_EQ(sum.kind(), "not measured");
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
  EXPECT_EQ(resumed.Efx.sum, whole.Efx.sum);
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
