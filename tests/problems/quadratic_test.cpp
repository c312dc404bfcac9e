#include "obolus/problems/quadratic.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "obolus/check/gradients.hpp"
#include "obolus/check/oracle.hpp"
#include "obolus/check/primitives.hpp"
#include "obolus/core/error.hpp"
#include "tests/check/findings.hpp"
#include "tests/problems/brute_force.hpp"

namespace {

using namespace obolus;
using test::at;
using test::mean_of;
using test::passes;
using test::solution_at;
using test::value_of_F;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr Drift drifts[] = {Drift::none, Drift::slow, Drift::abrupt, Drift::oscillating};

template <class S>
void passes_every_check(const QuadraticOptions& options, std::uint64_t seed) {
  Quadratic<S> p(options, seed);
  const CheckOptions where{.rounds = {1, 2, 3, 4}, .points = 1, .draws = 300};
  EXPECT_TRUE(passes(check_oracle(p, where, Rng(seed))));
  EXPECT_TRUE(passes(check_primitives(p, where, Rng(seed))));
}

TEST(Quadratic, EveryKindPassesEveryCheckInBothPrecisions) {
  for (const Drift drift : drifts)
    for (const double sine : {0.0, 0.4})
      for (const double noise : {0.0, 0.3}) {
        const QuadraticOptions options{.drift = drift, .period = 2, .sine = sine, .noise = noise, .noise_cross = noise};
        SCOPED_TRACE(std::string(name_of(drift)) + ", sine " + std::to_string(sine) + ", noise " +
                     std::to_string(noise));
        passes_every_check<double>(options, 1);
        passes_every_check<float>(options, 2);
      }
}

TEST(Quadratic, OddShapesAndExtremeWeightsPassEveryCheck) {
  const QuadraticOptions shapes[] = {
      {.dim_x = 1, .dim_y = 1},
      {.dim_x = 1, .dim_y = 7},
      {.dim_x = 9, .dim_y = 2},
      {.dim_x = 3, .dim_y = 250},  // long enough for the chunked product
      {.coupling = 0.0},
      {.weight = 0.0, .sine = -1.0, .ridge = 0.0},
      {.mu = 1e-3, .condition = 100.0},
      {.mu = 50.0, .condition = 1.0},
  };
  for (const QuadraticOptions& options : shapes) {
    SCOPED_TRACE(testing::Message() << options.dim_x << " by " << options.dim_y << ", mu " << options.mu);
    passes_every_check<double>(options, 5);
    passes_every_check<float>(options, 5);
  }
}

TEST(Quadratic, TheSeedIsTheProblem) {
  const Vector<double> x = Vector<double>::LinSpaced(5, -1, 1);
  Quadratic<double> one({}, 1), same({}, 1), other({}, 2);
  EXPECT_EQ(value_of_F(one, 3, x), value_of_F(same, 3, x));
  EXPECT_NE(value_of_F(one, 3, x), value_of_F(other, 3, x));
}

TEST(Quadratic, FloatAndDoubleAreTheSameProblem) {
  const QuadraticOptions options{.sine = 0.2};
  Quadratic<double> p(options, 4);
  Quadratic<float> q(options, 4);
  p.reveal(3);
  q.reveal(3);
  const Vector<double> x = Vector<double>::LinSpaced(5, -1, 1), y = Vector<double>::LinSpaced(10, 1, -1);
  Vector<double> g(10);
  Vector<float> h(10);
  p.inner_gradient_y(x, y, g);
  q.inner_gradient_y(x.cast<float>(), y.cast<float>(), h);
  EXPECT_LE((g - h.cast<double>()).norm(), checks::rounding<float>(15) * 10.0);  // |Ay| + |Bx| + |b| < 10
}

// Drifts, as the header describes them. y* moves by u_t; solving with A of condition 5 costs some tens of ε.

constexpr double amplitude = 0.7;
Quadratic<double> drifting(Drift drift) {
  return Quadratic<double>({.drift = drift, .amplitude = amplitude, .period = 10}, 3);
}
const Vector<double> somewhere = Vector<double>::LinSpaced(5, -1, 1);

TEST(Quadratic, AStaticStreamNeverMoves) {
  auto p = drifting(Drift::none);
  const Vector<double> first = solution_at(p, 1, somewhere);
  for (const Round t : {2, 10, 1000}) EXPECT_EQ(solution_at(p, t, somewhere), first);
}

TEST(Quadratic, ASlowDriftIsAmplitudeTimesSineOfLogT) {
  auto p = drifting(Drift::slow);
  const Vector<double> start = solution_at(p, 1, somewhere);
  Vector<double> direction = solution_at(p, 5, somewhere) - start;
  direction /= amplitude * std::sin(std::log(5.0));
  EXPECT_NEAR(direction.norm(), 1.0, 100 * epsilon);
  for (const Round t : {2, 17, 1000, 1000000}) {
    const Vector<double> expected = amplitude * std::sin(std::log(double(t))) * direction;
    EXPECT_LE((solution_at(p, t, somewhere) - start - expected).norm(), 200 * epsilon) << t;
  }
}

TEST(Quadratic, AnAbruptDriftJumpsByItsAmplitudeEveryPeriod) {
  auto p = drifting(Drift::abrupt);
  const Vector<double> start = solution_at(p, 1, somewhere);
  EXPECT_EQ(solution_at(p, 10, somewhere), start);
  Vector<double> before = start;
  for (Round jump = 11; jump < 60; jump += 10) {
    const Vector<double> now = solution_at(p, jump, somewhere);
    EXPECT_NEAR((now - start).norm(), amplitude, 200 * epsilon) << jump;
    EXPECT_GT((now - before).norm(), 0.01) << "a new direction each time";
    EXPECT_EQ(solution_at(p, jump + 9, somewhere), now);
    before = now;
  }
}

TEST(Quadratic, AnOscillatingDriftSwingsTheSolutionWhileFStandsStill) {
  auto p = drifting(Drift::oscillating);
  const double F = value_of_F(p, 1, somewhere);
  for (Round t = 2; t < 10; ++t) {
    EXPECT_NEAR((solution_at(p, t, somewhere) - solution_at(p, t - 1, somewhere)).norm(), 2 * amplitude, 200 * epsilon);
    EXPECT_NEAR(value_of_F(p, t, somewhere), F, 200 * epsilon * (1.0 + F));
  }
}

// What a round adds to V_T, H_2T, E^f_y and E^g_y, against the oracle's own answers.

RC_GTEST_PROP(QuadraticVariation, VTermIsTheLargestChangeOfFOverX, (std::uint64_t seed)) {
  const auto drift = *rc::gen::elementOf(std::vector<Drift>(std::begin(drifts), std::end(drifts)));
  const auto t = *rc::gen::inRange<Round>(2, 9);
  Quadratic<double> p({.dim_x = 2, .dim_y = 3, .drift = drift, .period = 2, .coupling = 1.5, .ridge = 0.3}, seed);
  for (const test::TriedSet& tried : test::bounded_plane_sets()) {
    const double closed = p.variation(t, tried.set).value.value();
    const double found = test::max_change_of_F(p, t, tried.extremes);
    const double rounded = 1000 * epsilon * (1.0 + std::abs(value_of_F(p, t, at(2, 2))));  // F is subtracted from F
    RC_ASSERT(found <= closed + rounded);
    RC_ASSERT(found >= closed * (1.0 - tried.share) - rounded);
    Rng rng(seed);
    for (int i = 0; i < 50; ++i) {
      Vector<double> x = at(3 * rng.normal(), 3 * rng.normal());
      tried.set.project(x);
      RC_ASSERT(test::max_change_of_F(p, t, {x}) <= closed + rounded);
    }
  }
}

RC_GTEST_PROP(QuadraticVariation, TheOtherTermsAreTheSquaredChangesAtAnyPoint, (std::uint64_t seed)) {
  const auto drift = *rc::gen::elementOf(std::vector<Drift>(std::begin(drifts), std::end(drifts)));
  const auto t = *rc::gen::inRange<Round>(2, 9);
  Quadratic<double> p({.dim_x = 2, .dim_y = 3, .drift = drift, .period = 2, .weight = 1.3, .sine = 0.4}, seed);
  Rng rng(seed);
  const Vector<double> x = at(rng.normal(), rng.normal()), y = (Vector<double>(3) << 0.3, -1.0, 2.0).finished();
  Vector<double> f0(3), f1(3), g0(3), g1(3), x0(2), x1(2);
  p.reveal(t - 1);
  p.outer_gradient_x(x, y, x0);
  p.outer_gradient_y(x, y, f0);
  p.inner_gradient_y(x, y, g0);
  p.reveal(t);
  p.outer_gradient_x(x, y, x1);
  p.outer_gradient_y(x, y, f1);
  p.inner_gradient_y(x, y, g1);
  const Variation v = p.variation(t, ConvexSet::all());
  const double tolerance = 1000 * epsilon * (1.0 + x.norm());
  RC_ASSERT(std::abs(v.outer_gradient.value() - (f1 - f0).squaredNorm()) <= tolerance);
  RC_ASSERT(std::abs(v.inner_gradient.value() - (g1 - g0).squaredNorm()) <= tolerance);
  RC_ASSERT(v.outer_gradient_x.value() == (x1 - x0).squaredNorm());
  RC_ASSERT(v.inner_hessian.value() == 0.0);
  RC_ASSERT(v.inner_cross.value() == 0.0);
  RC_ASSERT(std::abs(v.solution.value() - (solution_at(p, t, x) - solution_at(p, t - 1, x)).squaredNorm()) <=
            tolerance);
  const bool still = drift == Drift::none || (drift == Drift::abrupt && (t - 1) % 2 != 0);
  RC_ASSERT(v.value == (still ? std::optional(0.0) : std::nullopt));  // a sine has no closed form, unless nothing moved
}

TEST(QuadraticVariation, AskingLeavesTheCurrentRoundAlone) {
  auto p = drifting(Drift::oscillating);
  const Vector<double> expected = solution_at(p, 4, somewhere);
  (void)p.variation(7, ConvexSet::all());
  Vector<double> y(10);
  p.inner_solution(somewhere, y);
  EXPECT_EQ(y, expected);
}

TEST(QuadraticVariation, SumsGrowAsTheHeaderSays) {
  const auto sums = [](Drift drift, Round T) {
    auto p = drifting(drift);
    double V = 0.0, H = 0.0;
    for (Round t = 2; t <= T; ++t) {
      const Variation v = p.variation(t, ConvexSet::box(-1.0, 1.0));
      V += v.value.value();
      H += v.solution.value();
    }
    return std::pair{V, H};
  };
  EXPECT_EQ(sums(Drift::none, 100), (std::pair{0.0, 0.0}));
  const auto [V, H] = sums(Drift::oscillating, 101);
  EXPECT_EQ(V, 0.0);
  EXPECT_NEAR(H, 4 * amplitude * amplitude * 100, 1e-11);  // 100 roundings of numbers up to 200
  // slow: |u_t − u_{t−1}| ≤ a ln(t/(t−1)) ≤ a/(t−1), and Σ 1/n² = π²/6
  const auto [slow_V, slow_H] = sums(Drift::slow, 10'000);
  EXPECT_LE(slow_H, amplitude * amplitude * std::numbers::pi * std::numbers::pi / 6.0);
  const double first_V = sums(Drift::slow, 2).first;
  EXPECT_LE(slow_V, 20.0 * first_V * (1.0 + std::log(10'000.0)));
  EXPECT_GE(slow_V, sums(Drift::slow, 1000).first * 1.01) << "it keeps growing";
}

TEST(QuadraticVariation, OnAnUnboundedSetVIsInfiniteUnlessTheTargetFollows) {
  auto slow = drifting(Drift::slow);
  EXPECT_EQ(slow.variation(2, ConvexSet::all()).value.value(), std::numeric_limits<double>::infinity());
  for (const double small : {1.0, 1e-7}) {
    Quadratic<double> p({.drift = Drift::oscillating, .amplitude = small, .condition = 1e4}, 3);
    EXPECT_EQ(p.variation(2, ConvexSet::all()).value.value(), 0.0) << small;
  }
}

// The theory's constants, on points of the region they are stated for.

double joint(Quadratic<double>& p, const Vector<double>& x, const Vector<double>& y, Vector<double>& out, bool f) {
  Vector<double> in_x(p.dims().x), in_y(p.dims().y);
  if (f) {
    p.outer_gradient_x(x, y, in_x);
    p.outer_gradient_y(x, y, in_y);
  } else {
    p.inner_gradient_x(x, y, in_x);
    p.inner_gradient_y(x, y, in_y);
  }
  out.resize(in_x.size() + in_y.size());
  out << in_x, in_y;
  return out.norm();
}

RC_GTEST_PROP(QuadraticConstants, HoldOnSamples, (std::uint64_t seed)) {
  const auto drift = *rc::gen::elementOf(std::vector<Drift>(std::begin(drifts), std::end(drifts)));
  Quadratic<double> p({.dim_x = 2, .dim_y = 4, .drift = drift, .period = 2, .sine = 0.5, .ridge = 0.4}, seed);
  Rng rng(seed);
  for (const test::TriedSet& tried : test::bounded_plane_sets()) {
    const Constants k = p.constants(tried.set);
    RC_ASSERT(k.L_g2 == 0.0);
    for (Round t = 1; t <= 6; ++t) {
      p.reveal(t);
      Vector<double> x[2], y[2], f[2], g[2];
      for (int i : {0, 1}) {
        x[i] = at(3 * rng.normal(), 3 * rng.normal());
        tried.set.project(x[i]);
        y[i].resize(4);
        p.inner_solution(x[i], y[i]);
        RC_ASSERT(joint(p, x[i], y[i], f[i], true) <= k.L_f0);
        RC_ASSERT(std::abs(p.outer_value(x[i], y[i])) <= k.M);
      }
      rng.fill_normal(y[0]);  // the others hold for every y
      for (int i : {0, 1}) {
        joint(p, x[i], y[i], f[i], true);
        joint(p, x[i], y[i], g[i], false);
      }
      const double apart = std::hypot((x[0] - x[1]).norm(), (y[0] - y[1]).norm());
      RC_ASSERT((f[0] - f[1]).norm() <= k.L_f1 * apart * (1 + 100 * epsilon));
      RC_ASSERT((g[0] - g[1]).norm() <= k.L_g1 * apart * (1 + 100 * epsilon));
    }
  }
}

// L_g1 and μ_g are not merely bounds: power iteration reaches the first, and the option sets the second.
TEST(QuadraticConstants, AreTheSharpOnes) {
  Quadratic<double> p({.mu = 0.4, .condition = 8.0, .coupling = 2.0}, 6);
  const Constants k = p.constants(ConvexSet::box(-1.0, 1.0));
  EXPECT_NEAR(k.mu_g, 0.4, 100 * epsilon);
  EXPECT_GE(k.L_g1, 0.4 * 8.0);
  Vector<double> u = Vector<double>::Ones(15), image(15), origin(15);
  joint(p, Vector<double>::Zero(5), Vector<double>::Zero(10), origin, false);
  double reached = 0.0;
  for (int i = 0; i < 2000; ++i) {
    u.normalize();
    joint(p, u.head(5), u.tail(10), image, false);
    u = image - origin;
    reached = u.norm();
  }
  EXPECT_LE(reached, k.L_g1 * (1 + 100 * epsilon));
  EXPECT_GE(reached, k.L_g1 * 0.999);
}

TEST(QuadraticConstants, SayWhereTheyHold) {
  Quadratic<double> p({}, 1);
  const Constants k = p.constants(ConvexSet::all());
  EXPECT_EQ(k.L_f0, Constants::none);
  EXPECT_EQ(k.M, Constants::none);
  EXPECT_NE(k.region.find("unbounded"), std::string::npos);
  EXPECT_NE(p.constants(ConvexSet::l2_ball(1)).region.find("|y| at most"), std::string::npos);
}

// Samples: ξ and ζ have total variance σ²/B each, the entries of E have σ_E²/B.

TEST(QuadraticSamples, HaveTheDeviationThatTheOptionsSay) {
  Quadratic<double> p({.dim_x = 3, .dim_y = 4, .noise = 0.6}, 2);
  Rng rng(8);
  const Vector<double> x = Vector<double>::Ones(3), y = Vector<double>::Ones(4);
  Vector<double> f(7), g(7), sampled(7);
  joint(p, x, y, f, true);
  joint(p, x, y, g, false);
  const auto spread = [&](bool of_f, const Vector<double>& exact) {
    return mean_of(4000, [&] {
      p.resample({.outer = 4, .inner = 9}, rng);
      joint(p, x, y, sampled, of_f);
      return (sampled - exact).squaredNorm();
    });
  };
  const test::Mean of_f = spread(true, f), of_g = spread(false, g);
  EXPECT_NEAR(of_f.value, 0.36 / 4, of_f.five_errors);
  EXPECT_NEAR(of_g.value, 0.36 / 9, of_g.five_errors);
}

TEST(QuadraticSamples, CrossNoiseActsOnBothGradientsOfG) {
  Quadratic<double> p({.dim_x = 3, .dim_y = 4, .noise_cross = 0.5}, 2);
  Rng rng(8);
  const Vector<double> x = Vector<double>::Ones(3), y = 2.0 * Vector<double>::Ones(4);
  Vector<double> in_x(3), in_y(4), sampled_x(3), sampled_y(4);
  p.inner_gradient_x(x, y, in_x);
  p.inner_gradient_y(x, y, in_y);
  double difference = 0.0;
  const test::Mean of_x = mean_of(4000, [&] {
    p.resample({.inner = 5}, rng);
    p.inner_gradient_x(x, y, sampled_x);
    p.inner_gradient_y(x, y, sampled_y);
    // <y, Ex> is <x, E'y>: both gradients see the same E
    difference = std::max(difference, std::abs(x.dot(sampled_x - in_x) - y.dot(sampled_y - in_y)));
    return (sampled_x - in_x).squaredNorm();
  });
  EXPECT_NEAR(of_x.value, 3 * 16.0 * 0.25 / 5, of_x.five_errors);  // d1 |y|² σ_E²/B
  EXPECT_LE(difference, 1e-12);
}

// At a corner of X and at y*: the deviation of one sample stays below σ, and additive noise alone reaches it.
TEST(QuadraticSamples, SigmaBoundsTheDeviationOfASampledGradient) {
  for (const double cross : {0.0, 0.3}) {
    Quadratic<double> p({.dim_x = 3, .dim_y = 4, .noise = 0.6, .noise_cross = cross}, 2);
    const double sigma = p.constants(ConvexSet::box(-1.0, 1.0)).sigma;
    const Vector<double> x = Vector<double>::Ones(3), y = solution_at(p, 1, x);
    Vector<double> exact(7), sampled(7);
    joint(p, x, y, exact, false);
    Rng rng(3);
    const test::Mean squared = mean_of(4000, [&] {
      p.resample({.outer = 1, .inner = 1}, rng);
      joint(p, x, y, sampled, false);
      return (sampled - exact).squaredNorm();
    });
    EXPECT_LE(squared.value, sigma * sigma + squared.five_errors);
    if (cross == 0.0) {
      EXPECT_EQ(sigma, 0.6);
    }
  }
}

TEST(QuadraticSamples, TheClosedFormStaysThatOfTheExpectedFunctions) {
  Quadratic<double> p({.noise = 0.5, .noise_cross = 0.5}, 2);
  const Vector<double> expected = solution_at(p, 2, somewhere);
  Rng rng(1);
  p.resample({}, rng);
  Vector<double> y(10);
  p.inner_solution(somewhere, y);
  EXPECT_EQ(y, expected);
}

// 300 rows are five chunks of 64: work for two threads.
template <class S>
void threads_change_nothing() {
  const QuadraticOptions options{.dim_x = 40, .dim_y = 300, .sine = 0.1, .noise = 0.1, .noise_cross = 0.1};
  Quadratic<S> one(options, 7), two(options, 7), three(options, 7);
  two.set_threads(2);
  three.set_threads(3);
  checks::Place<S> place;
  Rng rng(1);
  place.x = checks::random_near<S>({}, 40, 1.0, rng);
  place.y = checks::random_near<S>({}, 300, 1.0, rng);
  for (Round t = 1; t <= 20; ++t) {
    one.reveal(t);
    two.reveal(t);
    three.reveal(t);
    const auto numbers = checks::fingerprint(one, place);
    ASSERT_TRUE(checks::same_bits(numbers, checks::fingerprint(two, place))) << "two threads, round " << t;
    ASSERT_TRUE(checks::same_bits(numbers, checks::fingerprint(three, place))) << "three threads, round " << t;
  }
}
TEST(Quadratic, ThreadsDoNotChangeABit) {
  threads_change_nothing<double>();
  threads_change_nothing<float>();
}

TEST(Quadratic, BadOptionsAreRefusedByName) {
  const auto refusal = [](const QuadraticOptions& options) -> std::string {
    try {
      Quadratic<double> p(options, 1);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_NE(refusal({.dim_x = 0}).find("dim_x"), std::string::npos);
  EXPECT_NE(refusal({.dim_y = 10'001}).find("dim_y"), std::string::npos);
  EXPECT_NE(refusal({.mu = 0.0}).find("mu"), std::string::npos);
  EXPECT_NE(refusal({.condition = 0.5}).find("condition"), std::string::npos);
  EXPECT_NE(refusal({.noise = -1.0}).find("noise"), std::string::npos);
  EXPECT_NE(refusal({.weight = std::nan("")}).find("weight"), std::string::npos);
}

}  // namespace
