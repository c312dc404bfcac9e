#include "obolus/core/outer_step.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;
using Real = Vector<double>;

Real vector(std::initializer_list<double> values) {
  Real v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

Real after(const OuterStepOptions& o, const ConvexSet& set, Real x, const std::vector<Real>& directions, double gamma) {
  const OuterStep step(o, set);
  OuterMemory<double> memory = step.init<double>(x);
  for (const Real& d : directions) step.operator()<double>(set, gamma, d, x, memory);
  return x;
}

TEST(OuterStep, EuclideanIsTheProjectedGradientStep) {
  const Real x = after({}, ConvexSet::box(-1, 0.3), vector({0.2, 0.0}), {vector({-2.0, 1.0})}, 0.1);
  EXPECT_EQ(x, vector({0.3, -0.1}));
}

// s = (1 − b) d² after one step, so the first step is γ d/(√(1 − b)|d| + ε) whatever the size of d.
TEST(OuterStep, DiagonalStepsForgetTheScaleOfEachCoordinate) {
  const OuterStepOptions o{.geometry = Geometry::diagonal, .decay = 0.9, .epsilon = 1e-12};
  const Real x = after(o, ConvexSet::all(), Real::Zero(2), {vector({1e3, -1e-3})}, 0.1);
  EXPECT_NEAR(x[0], -0.1 / std::sqrt(0.1), 1e-9);
  EXPECT_NEAR(x[1], 0.1 / std::sqrt(0.1), 1e-9);
}

TEST(OuterStep, EntropyMultipliesAndScalesBackOntoTheSimplex) {
  const OuterStepOptions o{.geometry = Geometry::entropy};
  const Real x = after(o, ConvexSet::simplex(), vector({0.5, 0.25, 0.25}), {vector({0.0, std::log(2.0), 0.0})}, 1.0);
  EXPECT_NEAR(x[0], 4.0 / 7.0, 1e-15);
  EXPECT_NEAR(x[1], 1.0 / 7.0, 1e-15);
}

TEST(OuterStep, EntropyOnTheSimplexSurvivesHugeDirections) {
  const OuterStepOptions o{.geometry = Geometry::entropy};
  const Real x = after(o, ConvexSet::simplex(), vector({0.5, 0.5}), {vector({-1e6, 1e6})}, 1.0);
  EXPECT_EQ(x[0], 1.0);
  EXPECT_GT(x[1], 0.0);  // or it would stay there
  EXPECT_LT(x[1], 1e-300);
}

// Adam's first step has length γ in the logarithm, whatever the gradient: m̂/√ŝ = ±1.
TEST(OuterStep, LogAdamMovesLogarithmsByItsStepSizeAtFirst) {
  const OuterStepOptions o{.geometry = Geometry::log_adam, .epsilon = 1e-30};
  const Real x = after(o, ConvexSet::nonnegative(), vector({1e-6, 10.0}), {vector({5.0, -1e-4})}, 0.1);
  EXPECT_NEAR(std::log(x[0] / 1e-6), -0.1, 1e-12);
  EXPECT_NEAR(std::log(x[1] / 10.0), 0.1, 1e-12);
}

TEST(OuterStep, ShrinkageDrawsCoordinatesTogetherWithoutMovingTheirMean) {
  const Real zero = Real::Zero(3);
  const Real x = after({.shrinkage = 0.25}, ConvexSet::all(), vector({0.0, 4.0, 8.0}), {zero}, 0.1);
  EXPECT_EQ(x, vector({1.0, 4.0, 7.0}));
  const Real log_x = after({.geometry = Geometry::log_adam, .shrinkage = 1.0}, ConvexSet::nonnegative(),
                           vector({1.0, 4.0, 16.0}), {zero}, 0.1);
  for (const double value : log_x) EXPECT_NEAR(value, 4.0, 1e-14);  // the geometric mean
}

// m ← μm + d + wx; x ← Proj(x − γm), written out.
TEST(OuterStep, MomentumAndWeightDecayAreThoseOfPyTorchsSgd) {
  const double mu = 0.9, w = 0.1, gamma = 0.25;
  const std::vector<Real> directions{vector({1.0, -2.0}), vector({0.5, 0.5}), vector({-3.0, 1.0})};
  for (const ConvexSet& set : {ConvexSet::all(), ConvexSet::box(-0.5, 0.6), ConvexSet::l2_ball(0.7)}) {
    Real x = vector({0.4, -0.3}), m = Real::Zero(2);
    for (const Real& d : directions) {
      m = mu * m + d + w * x;
      x = x - gamma * m;
      set.project<double>(x);
    }
    const OuterStepOptions o{.momentum = mu, .weight_decay = w};
    const Real ours = after(o, set, vector({0.4, -0.3}), directions, gamma);
    EXPECT_LT((ours - x).norm(), 1e-15) << set.name();  // three steps of numbers below 8
  }
}

TEST(OuterStep, WithoutAStepSizeNothingMovesAndNothingIsRemembered) {
  for (const auto& [geometry, name] : EnumNames<Geometry>::values) {
    OuterStepOptions o{.geometry = geometry, .shrinkage = 0.5};
    if (geometry == Geometry::euclidean) o.momentum = 0.9;
    const ConvexSet set = ConvexSet::nonnegative();
    const OuterStep step(o, set);
    const Real start = vector({0.3, 0.7}), d = vector({1.0, -2.0});
    Real x = start, y = start;
    OuterMemory<double> resting = step.init<double>(x), fresh = step.init<double>(y);
    for (int i = 0; i < 3; ++i) step.operator()<double>(set, 0.0, d, x, resting);
    EXPECT_EQ(x, start) << name;
    step.operator()<double>(set, 0.1, d, x, resting);
    step.operator()<double>(set, 0.1, d, y, fresh);
    EXPECT_EQ(x, y) << name;
  }
}

TEST(OuterStep, OtherGeometriesRefuseMomentumAndWeightDecay) {
  for (const Geometry g : {Geometry::diagonal, Geometry::entropy, Geometry::log_adam}) {
    EXPECT_THROW(OuterStep({.geometry = g, .momentum = 0.9}, ConvexSet::simplex()), ConfigError);
    EXPECT_THROW(OuterStep({.geometry = g, .weight_decay = 0.1}, ConvexSet::simplex()), ConfigError);
  }
}

TEST(OuterStep, AnArchiveFromBeforeMomentumIsStillRead) {
  struct Before {
    OuterMemory<double> memory;
    void fields(Archive& a) {
      a("t", memory.t);
      a("mean", memory.mean);
      a("square", memory.square);
      a("level_mean", memory.level_mean);
      a("level_square", memory.level_square);
    }
  };
  Before old;
  old.memory.t = 7;
  Archive saved;
  old.fields(saved);
  Archive loaded(saved.bytes());
  OuterMemory<double> memory;
  memory.fields(loaded);
  loaded.finish();
  EXPECT_EQ(memory.t, 7);
  EXPECT_EQ(memory.momentum.size(), 0);
}

TEST(OuterStep, GeometriesOfPositiveNumbersRefuseOtherSetsAndStarts) {
  for (const Geometry g : {Geometry::entropy, Geometry::log_adam}) {
    for (const ConvexSet& set :
         {ConvexSet::all(), ConvexSet::box(-0.1, 1.0), ConvexSet::l2_ball(1.0), ConvexSet::l1_ball(1.0)})
      EXPECT_THROW(OuterStep({.geometry = g}, set), ConfigError) << set.name();
    const OuterStep step({.geometry = g}, ConvexSet::nonnegative());
    EXPECT_THROW((void)step.init<double>(vector({1.0, 0.0})), ConfigError);
  }
}

struct Options {
  OuterStepOptions outer = {};
  template <class V>
  void describe(V&& v) {
    outer.describe(v);
  }
};

TEST(OuterStep, OptionsOutsideTheirRangeAreNamed) {
  EXPECT_THROW(validate(Options{{.decay = 1.0}}, "optimiser"), ConfigError);
  EXPECT_THROW(validate(Options{{.shrinkage = -0.1}}, "optimiser"), ConfigError);
  EXPECT_THROW(validate(Options{{.momentum = 1.0}}, "optimiser"), ConfigError);
  EXPECT_THROW(validate(Options{{.weight_decay = -0.1}}, "optimiser"), ConfigError);
  EXPECT_NO_THROW(validate(Options{}, "optimiser"));
}

}  // namespace
