#include "obolus/problems/softmax_l2.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "obolus/check/oracle.hpp"
#include "obolus/check/primitives.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/check/findings.hpp"
#include "tests/problems/softmax_pairs.hpp"

namespace {

using namespace obolus;
using test::apart;
using test::Course;
using test::growth_of_errors;
using test::name_of;
using test::Parting;
using test::passes;
using test::race;
using test::Walk;
using test::Walker;
using test::walks;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

SoftmaxOptions small(std::int64_t classes = 5) {
  SoftmaxOptions o;
  o.documents = 80;
  o.features = 60;
  o.classes = classes;
  o.batch = 6;
  return o;
}
double risen(Round t) { return 25.0 * static_cast<double>(t); }  // 5e4 in round 2,000

// Every step rounds both sides by ε of an iterate, which after n steps is √n ε as a random walk. Where y and z are
// rounded apart (pair, alone) d multiplies their difference by λ. A dual step is spared that, but for one number: the
// default takes λβ − α, 0 but for the rounding of β, and multiplies it by λ. All of it grows as the method lets errors
// grow, which is measured. Ten for what the walk is a deviation of.
double allowed(const SoftmaxOptions& options, const Course& c) {
  const double lambda = c.lambda(c.rounds), steps = static_cast<double>(c.rounds * c.steps);
  const double walk = std::sqrt(steps) * epsilon;
  const bool apart_by_lambda = c.walk == Walk::pair || c.walk == Walk::alone;
  const double once = apart_by_lambda ? lambda * walk : c.walk == Walk::dual ? walk + lambda * epsilon : walk;
  return 10.0 * growth_of_errors(options, c) * once;
}
Parting stays_with_the_dense_one(const SoftmaxOptions& options, const Course& course) {
  SCOPED_TRACE(testing::Message() << name_of(course.walk) << (course.drawn ? ", drawn" : ", batches") << ", "
                                  << course.steps << " steps, ratio " << course.ratio << ", " << options.classes
                                  << " classes");
  const Parting seen = race<double>(options, course);
  const double tolerance = allowed(options, course);
  EXPECT_LE(tolerance, 1e-4) << "too chaotic to compare anything";
  EXPECT_LE(seen.d, tolerance);
  EXPECT_LE(seen.x, tolerance);
  EXPECT_LE(seen.a, tolerance);
  EXPECT_LE(seen.b, tolerance);
  return seen;
}

// ---- Primitives against their definitions ---------------------------------------------------------------------------

TEST(SoftmaxL2, EveryPrimitiveStaysWithTheDenseOneForThousandsOfRoundsAtBothEndsOfTheBox) {
  for (const Walk walk : walks)
    for (const bool drawn : {false, true}) {
      Course c{.walk = walk, .drawn = drawn, .gamma = 5e-3, .lambda = risen};
      const Parting seen = stays_with_the_dense_one(small(), c);
      EXPECT_GT(seen.at_low, 1000) << name_of(walk);
      EXPECT_GT(seen.at_high, 1000) << name_of(walk);
      EXPECT_GT(seen.inside, 1000) << name_of(walk);
    }
}

// y then lags behind z by what the batches differ, d is λ times that, and γ smaller.
TEST(SoftmaxL2, StepsWhoseRatioIsNotLambdaStayWithTheDenseOneToo) {
  for (const Walk walk : walks)
    for (const bool drawn : {false, true}) {
      Course c{
          .walk = walk, .drawn = drawn, .ratio = 0.9, .gamma = walk == Walk::central ? 5e-3 : 1e-4, .lambda = risen};
      const Parting seen = stays_with_the_dense_one(small(), c);
      EXPECT_GT(seen.at_low, 0) << name_of(walk);
      EXPECT_GT(seen.at_high, 0) << name_of(walk);
    }
}

TEST(SoftmaxL2, AnyNumberOfStepsIsThatManyStepsOnTheSameRows) {
  for (const Walk walk : walks)
    for (const std::int64_t steps : {1, 5, 8, 9, 17})
      stays_with_the_dense_one(small(), {.walk = walk, .rounds = 60, .steps = steps, .gamma = 5e-3});
}

// Packs of four numbers: 1, 1, 2, 2, 3, 4, 5, 6 in a row with a kernel of their own, 9 and 18 with the general one.
TEST(SoftmaxL2, AnyNumberOfClassesHasItsKernel) {
  for (const std::int64_t classes : {2, 3, 5, 8, 9, 14, 20, 23, 33, 70})
    for (const Walk walk : walks)
      for (const bool drawn : {false, true})
        stays_with_the_dense_one(small(classes),
                                 {.walk = walk, .rounds = 25, .steps = 9, .drawn = drawn, .gamma = 5e-3});
}

TEST(SoftmaxL2, SharedWeightsFeedsNoiseAndDriftStayWithTheDenseOne) {
  for (const Sharing sharing : {Sharing::feature, Sharing::group, Sharing::global})
    for (const Feed feed : {Feed::split, Feed::shared, Feed::judge}) {
      SoftmaxOptions o = small();
      o.sharing = sharing;
      o.groups = 7;
      o.feed = feed;
      o.replay = 5;
      o.noise = 0.2;
      o.drift = LabelDrift::rotate;
      o.period = 20;
      for (const Walk walk : walks) stays_with_the_dense_one(o, {.walk = walk, .rounds = 120, .gamma = 1e-3});
    }
}

TEST(SoftmaxL2, WholePoolsAreABatchToo) {
  SoftmaxOptions o = small();
  o.batch = 0;
  o.noise = Numbers({0.1, 0.3});
  o.noise_rounds = Numbers({1.0, 12.0});
  for (const Walk walk : walks) stays_with_the_dense_one(o, {.walk = walk, .rounds = 30, .gamma = 5e-3});
}

// The scale is found to 1e-14 of itself where the slope crosses zero steeply, and multiplies f's residuals.
TEST(SoftmaxL2, AFittedTemperatureStaysWithTheDenseOne) {
  SoftmaxOptions o = small();
  o.temperature = Temperature::fitted;
  for (const Walk walk : walks)
    for (const bool drawn : {false, true})
      stays_with_the_dense_one(o, {.walk = walk, .rounds = 100, .drawn = drawn, .gamma = 1e-3});
}

TEST(SoftmaxL2, SamplesReusedForSeveralStepsGoByColumns) {
  for (const Walk walk : walks) {
    const Course c{.walk = walk, .lambda = [](Round) { return 50.0; }};
    Walker<SoftmaxL2<double>> lazy(small(), 3, 0.02);
    Walker<SoftmaxOracle<double>> dense(small(), 3, 0.02);
    Rng one(5), two(5);
    for (Round t = 1; t <= 40; ++t) {
      lazy.problem.reveal(t);
      dense.problem.reveal(t);
      lazy.problem.resample({.outer = 9, .inner = 7}, one);
      dense.problem.resample({.outer = 9, .inner = 7}, two);
      lazy.step(c, t, 1 + t % 11);
      dense.step(c, t, 1 + t % 11);
    }
    // 240 steps at a constant x, which nothing makes grow: λ√240 ε and ten times that
    EXPECT_LE(apart(lazy.dense(lazy.a), dense.dense(dense.a)), 10 * 50.0 * 16 * epsilon) << name_of(walk);
    EXPECT_LE(apart(lazy.dense(lazy.b), dense.dense(dense.b)), 10 * 50.0 * 16 * epsilon) << name_of(walk);
  }
}

// Not with a fitted scale: such an f is as curved as 1/|y|², steps that suit g need not contract, and the checker
// counts on it. The races above measure how errors grow instead.
TEST(SoftmaxL2, PassesThePublicCheckersInBothPrecisions) {
  SoftmaxOptions o;
  o.documents = 24;
  o.features = 6;
  o.classes = 3;
  o.batch = 4;
  const CheckOptions where{.rounds = {1, 2, 5},
                           .points = 1,
                           .x = Vector<double>::Constant(6, 0.5),
                           .radius = 0.5,
                           .domain = ConvexSet::box(0.1, 2.0),
                           .draws = 300};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SoftmaxL2<double> p(o, seed);
    EXPECT_TRUE(passes(check_primitives(p, where, Rng(seed))));
    SoftmaxL2<float> q(o, seed);
    EXPECT_TRUE(passes(check_primitives(q, where, Rng(seed))));
  }
  o.batch = 0;  // whole pools are what draws are drawn from
  SoftmaxL2<double> p(o, 2);
  EXPECT_TRUE(passes(check_oracle(p, where)));
}

// ---- Precision ------------------------------------------------------------------------------------------------------

// Float along the x of the double one, at λ = 5e4 throughout. Dual rows round by 6e-8 a step and forget within 1/(αx)
// steps, at most 1/(0.3 · 0.001): √3333 · 6e-8 = 3.5e-6 of an iterate, of which a product has two, ten for the
// deviation. A pair rounds y and z apart, and d has λ times that.
TEST(SoftmaxL2, InFloatTheDualKeepsWhatThePairLosesAtLargeLambda) {
  const auto error_of = [](Walk walk) {
    const Course c{.walk = walk, .rounds = 400, .gamma = 1e-4, .lambda = [](Round) { return 5e4; }, .low = 0.001};
    Walker<SoftmaxL2<float>> single(small(), 3, 0.02);
    Walker<SoftmaxOracle<double>> twice(small(), 3, 0.02);
    double worst = 0.0;
    for (Round t = 1; t <= c.rounds; ++t) {
      single.x = twice.x.cast<float>();
      single.round(c, t);
      twice.round(c, t);
      if (t > 20) worst = std::max(worst, apart(single.d, twice.d));
      twice.move(c);
    }
    return worst;
  };
  const double dual = error_of(Walk::dual), central = error_of(Walk::central), pair = error_of(Walk::pair);
  EXPECT_LE(dual, 7e-5);
  EXPECT_LE(central, 7e-5);
  EXPECT_GE(pair, 100.0 * dual);
}

// ---- Storage --------------------------------------------------------------------------------------------------------

template <class S>
Vector<S> drawn_vector(Rng& rng, Index size) {
  Vector<S> v(size);
  rng.fill_normal(v);
  return v;
}

TEST(SoftmaxL2, DenseValuesGoInAndOutUnchanged) {
  for (const std::int64_t classes : {2, 5, 9, 33}) {
    SoftmaxL2<float> p(small(classes), 1);
    Rng rng(4);
    const Vector<float> v = drawn_vector<float>(rng, p.dims().y);
    auto inner = p.make_inner();
    Vector<float> out(v.size());
    p.to_dense(inner, out);
    EXPECT_EQ(out, Vector<float>::Zero(v.size()));
    p.from_dense(v, inner);
    p.to_dense(inner, out);
    EXPECT_EQ(out, v);
    EXPECT_TRUE(p.all_finite(inner));
  }
}

TEST(SoftmaxL2, CopiesGoTheirOwnWayAndAxpyAddsWhateverTheScales) {
  SoftmaxL2<double> p(small(), 1);
  Rng rng(4);
  const Vector<double> x = Vector<double>::Constant(60, 0.7), u = drawn_vector<double>(rng, 300);
  const Vector<double> v = drawn_vector<double>(rng, 300);
  auto a = p.make_inner(), b = p.make_inner();
  p.from_dense(u, a);
  p.from_dense(v, b);
  // scales that are not 1
  p.descend(x, a, 0.3, 5);
  p.descend(x, b, 0.2, 3);
  Vector<double> before(300), after(300), added(300);
  p.to_dense(a, before);
  p.to_dense(b, added);
  auto copy = p.make_inner();
  p.copy(a, copy);
  p.descend(x, copy, 0.3, 4);
  p.to_dense(a, after);
  EXPECT_EQ(after, before) << "the original stays";
  p.axpy(-1.7, b, a);
  p.to_dense(a, after);
  EXPECT_LE((after - (before - 1.7 * added)).cwiseAbs().maxCoeff(), 4 * epsilon * 10.0);  // numbers below 10
  p.axpy(1.0, a, a);
  p.to_dense(a, added);
  EXPECT_EQ(added, Vector<double>(2.0 * after));
}

TEST(SoftmaxL2, AllFiniteSeesEveryNaNAndEveryInfinity) {
  SoftmaxL2<double> p(small(), 1);
  for (const Index at : {0, 4, 5, 150, 299})
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Vector<double> v = Vector<double>::Ones(300);
      v(at) = bad;
      auto inner = p.make_inner();
      p.from_dense(v, inner);
      EXPECT_FALSE(p.all_finite(inner));
    }
}

// A pair knows that it is finite from its steps, until something else changes it.
TEST(SoftmaxL2, AllFiniteSeesWhatBecomesOfAPair) {
  const double infinity = std::numeric_limits<double>::infinity();
  SoftmaxL2<double> p(small(), 1);
  Vector<double> x = Vector<double>::Constant(p.dims().x, 0.01), v = Vector<double>::Ones(300);
  auto y = p.make_inner(), z = p.make_inner();
  const auto step = [&](double alpha) {
    p.reveal(1);
    p.descend_pair(x, y, z, alpha, {1.0, 1.0}, alpha, 3);
  };
  step(0.1);
  EXPECT_TRUE(p.all_finite(y) && p.all_finite(z));
  v(150) = infinity;
  p.from_dense(v, z);
  EXPECT_FALSE(p.all_finite(z));
  p.descend_pair(x, y, z, 0.1, {1.0, 1.0}, 0.1, 0);
  EXPECT_FALSE(p.all_finite(z)) << "no step, nothing seen";
  step(0.1);
  EXPECT_FALSE(p.all_finite(z));
  v(150) = 1e80;  // its square, times what one step does
  p.from_dense(v, y), p.from_dense(v, z);
  EXPECT_TRUE(p.all_finite(y));
  step(0.1);
  EXPECT_TRUE(p.all_finite(y)) << "large, not infinite";
  x.setConstant(1e120);
  step(0.1);
  EXPECT_FALSE(p.all_finite(y) && p.all_finite(z));
}

// ---- Scales ---------------------------------------------------------------------------------------------------------

// Nobody's documents have features 2 … 9: they only shrink, by 1 − αx_i a step, whatever that is.
std::shared_ptr<const LabelledRows> two_of_ten() {
  LabelledRows rows;
  rows.classes = 3;
  for (SparseRows* part : {&rows.train, &rows.test}) {
    part->columns = 10;
    for (int i = 0; i < 12; ++i) {
      part->column.insert(part->column.end(), {0, 1});
      part->value.insert(part->value.end(), {0.6f, i % 2 == 0 ? 0.8f : -0.8f});
      part->start.push_back(static_cast<std::int64_t>(part->value.size()));
    }
  }
  for (std::int32_t i = 0; i < 12; ++i) {
    rows.train_label.push_back(i % 3);
    rows.test_label.push_back(i % 3);
  }
  return std::make_shared<const LabelledRows>(std::move(rows));
}

template <class S>
void shrinks_by_powers(Walk walk, bool drawn) {
  SCOPED_TRACE(testing::Message() << name_of(walk) << (drawn ? ", drawn" : ", batches") << ", " << sizeof(S));
  constexpr double alpha = 0.5;
  // ρ = 1, 0, −½, −1, ½, 2⁻⁸: exact powers; 0.75 and −1.0625 round.
  const double rho[] = {0.9, 0.9, 1.0, 0.0, -0.5, -1.0, 0.5, 0.00390625, 0.75, -1.0625};
  SoftmaxOptions o;
  o.batch = 3;
  SoftmaxL2<S> p(o, two_of_ten(), 1);
  InnerSpace<SoftmaxL2<S>> space(p);
  Vector<S> x(10), d(10), start(30), out(30);
  for (Index i = 0; i < 10; ++i) x(i) = S((1.0 - rho[i]) / alpha);
  for (Index i = 0; i < 30; ++i) start(i) = S(1 + i % 3);
  auto a = space.make(p, start), b = space.make(p, S(0.5) * start);
  int steps = 0;
  for (Round t = 1; t <= 60; ++t) {
    p.reveal(t);
    Rng rng(static_cast<std::uint64_t>(t));
    if (drawn) p.resample({2, 2}, rng);
    const int n = drawn ? 1 : 9;
    const Penalty penalty{1.0, 4.0};
    if (walk == Walk::pair) p.descend_pair(x, a, b, alpha / 4.0, penalty, alpha, n);
    if (walk == Walk::dual) p.descend_dual(x, a, b, {alpha, alpha / 4.0, 4.0}, n);
    if (walk == Walk::central) p.descend_central(x, a, b, {alpha / 4.0, 4.0}, n);
    if (walk == Walk::alone) {
      p.descend(x, b, alpha, n);
      p.descend_penalised(x, a, alpha / 4.0, penalty, n);
    }
    steps += n;
    ASSERT_TRUE(p.all_finite(a) && p.all_finite(b)) << "round " << t;
    if (walk == Walk::dual) p.dual_direction(x, a, b, 4.0, d);
    else if (walk == Walk::central) p.central_direction(x, a, b, 4.0, d);
    else p.penalty_direction(x, a, b, 4.0, d);
    p.to_dense(a, out);
    for (Index i = 2; i < 10; ++i) {
      const double expected = std::pow(rho[i], steps);
      if (std::abs(expected) > 1e15) continue;  // squares beyond a float's
      // One rounding a step, two for squares; below the smallest normal number nothing is promised.
      const double relative = 4.0 * steps * double(std::numeric_limits<S>::epsilon());
      const double min = 10.0 * double(std::numeric_limits<S>::min());
      ASSERT_NEAR(double(out(3 * i)), expected, relative * std::abs(expected) + min) << i << ", round " << t;
      // |start|² = 14; pair: ½·4·(1 − ¼)·14 = 21, dual: ½·14 + ¼·14/8, central: ½·14
      const double of_one = walk == Walk::dual ? 7.4375 : walk == Walk::central ? 7.0 : 21.0;
      ASSERT_NEAR(double(d(i)), of_one * expected * expected, 30.0 * (relative * expected * expected + min)) << i;
    }
  }
}
TEST(SoftmaxL2, RowsThatNobodyTouchesAreMultipliedByPowersAlsoOfZeroAndOfNegativeNumbers) {
  for (const Walk walk : walks)
    for (const bool drawn : {false, true}) {
      shrinks_by_powers<double>(walk, drawn);
      shrinks_by_powers<float>(walk, drawn);
    }
}

// ρ from −2 to −1e6: the scales overflow within a few rounds, zero times them is zero all the same.
template <class S>
void zeros_stay(Walk walk, bool drawn) {
  SCOPED_TRACE(testing::Message() << name_of(walk) << (drawn ? ", drawn" : ", batches") << ", " << sizeof(S));
  SoftmaxOptions o;
  o.batch = 3;
  SoftmaxL2<S> p(o, two_of_ten(), 1);
  Vector<S> x(10), d(10), out(30);
  x << S(0.1), S(0.1), S(6), S(30), S(200), S(1e3), S(5e3), S(1e5), S(2e6), S(5);
  auto a = p.make_inner(), b = p.make_inner();
  for (Round t = 1; t <= 200; ++t) {
    p.reveal(t);
    Rng rng(static_cast<std::uint64_t>(t));
    if (drawn) p.resample({2, 2}, rng);
    const int n = drawn ? 1 : 8;
    const Penalty penalty{1.0, 4.0};
    if (walk == Walk::pair) {
      p.descend_pair(x, a, b, 0.125, penalty, 0.5, n);
      p.penalty_direction(x, a, b, 4.0, d);
    }
    if (walk == Walk::dual) {
      p.descend_dual(x, a, b, {0.5, 0.125, 4.0}, n);
      p.dual_direction(x, a, b, 4.0, d);
    }
    if (walk == Walk::central) {
      p.descend_central(x, a, b, {0.125, 4.0}, n);
      p.central_direction(x, a, b, 4.0, d);
    }
    if (walk == Walk::alone) {
      p.descend(x, b, 0.5, n);
      p.descend_penalised(x, a, 0.125, penalty, n);
      p.penalty_direction(x, a, b, 4.0, d);
    }
    ASSERT_TRUE(p.all_finite(a) && p.all_finite(b)) << "round " << t;
    ASSERT_EQ(d.tail(8), Vector<S>::Zero(8)) << "round " << t;
    for (const auto* it : {&a, &b}) {
      p.to_dense(*it, out);
      ASSERT_EQ(out.tail(24), Vector<S>::Zero(24)) << "round " << t;
    }
  }
}
TEST(SoftmaxL2, ZerosStayZerosWhateverTheirScalesComeTo) {
  for (const Walk walk : walks)
    for (const bool drawn : {false, true}) {
      zeros_stay<double>(walk, drawn);
      zeros_stay<float>(walk, drawn);
    }
}

// ---- What a pair shares ---------------------------------------------------------------------------------------------

// Three iterates in any roles, steps and readings in any order, beside dense ones. Every step contracts but for axpy,
// so that 60 operations on numbers of size s, with λ = 8, leave at most some 60 · λ · 1,000 ε s.
struct Mixed {
  static constexpr double alpha = 0.3, lambda = 8.0;
  SoftmaxL2<double> lazy;
  SoftmaxOracle<double> dense;
  InnerSpace<SoftmaxL2<double>> on_lazy;
  InnerSpace<SoftmaxOracle<double>> on_dense;
  Vector<double> x;
  std::vector<LazyRows<double>> own;
  std::vector<Vector<double>> plain;
  Rng rng;

  Mixed(const SoftmaxOptions& o, std::uint64_t seed)
      : lazy(o, seed), dense(o, seed), on_lazy(lazy), on_dense(dense), x(lazy.dims().x), rng(seed) {
    move_x();
    for (int i = 0; i < 3; ++i) {
      plain.push_back(drawn_vector<double>(rng, lazy.dims().y));
      own.push_back(on_lazy.make(lazy, plain.back()));
    }
  }
  void move_x() {
    const double some[] = {0.0, 0.02, 0.5, 1.0 / alpha, 1.3 / alpha};
    for (double& xi : x) xi = some[rng.below(5)];
  }
  // The same call on both sides.
  template <class Call>
  void both(Call&& call) {
    call(on_lazy, lazy, own);
    call(on_dense, dense, plain);
  }
  void other_rows() {
    const Round t = 1 + static_cast<Round>(rng.below(9));
    lazy.reveal(t);
    dense.reveal(t);
    if (rng.below(2) == 0) return;
    Rng one = rng.child("rows"), two = one;
    const SampleSizes sizes{.outer = 1 + static_cast<std::int64_t>(rng.below(4)),
                            .inner = 1 + static_cast<std::int64_t>(rng.below(4))};
    lazy.resample(sizes, one);
    dense.resample(sizes, two);
  }
  void operation(std::size_t i, std::size_t j) {
    const auto n = static_cast<std::int64_t>(rng.below(3) == 0 ? 1 : 1 + rng.below(10));
    switch (rng.below(12)) {
      case 0: return move_x();
      case 1: return other_rows();
      case 2: return both([&](auto& s, auto& p, auto& v) { s.descend(p, x, v[i], alpha, n); });
      case 3:
        return both(
            [&](auto& s, auto& p, auto& v) { s.descend_penalised(p, x, v[i], alpha / lambda, {0.7, lambda}, n); });
      case 4: {
        const double beta = (rng.below(2) == 0 ? 1.0 : 0.8) * alpha / lambda;
        return both(
            [&](auto& s, auto& p, auto& v) { s.descend_pair(p, x, v[i], v[j], beta, {1.0, lambda}, alpha, n); });
      }
      case 5: {
        const DualStep step{alpha, (rng.below(3) == 0 ? 0.9 : 1.0) * alpha / lambda, lambda};
        return both([&](auto& s, auto& p, auto& v) { s.descend_dual(p, x, v[i], v[j], step, n); });
      }
      case 6:
        return both(
            [&](auto& s, auto& p, auto& v) { s.descend_central(p, x, v[i], v[j], {alpha / lambda, lambda}, n); });
      case 7: return both([&](auto& s, auto& p, auto& v) { s.copy(p, v[i], v[j]); });
      case 8: return both([&](auto& s, auto& p, auto& v) { s.axpy(p, -0.5, v[i], v[j]); });
      case 9: {
        const Vector<double> fresh = drawn_vector<double>(rng, lazy.dims().y);
        return both([&](auto& s, auto& p, auto& v) { s.from_dense(p, fresh, v[i]); });
      }
      case 10:
        own[j] = own[i];
        plain[j] = plain[i];
        return;
      default: {
        Archive saved;
        saved("it", own[i]);
        LazyRows<double> back = lazy.make_inner();
        Archive loading(saved.bytes());
        loading("it", back);
        own[i] = back;
      }
    }
  }
  // Of the readings of i and j in these roles, the worst error; `size` is the largest number of either.
  double worst_reading(std::size_t i, std::size_t j, double& size) {
    Vector<double> got(x.size()), expected(x.size());
    double worst = 0.0;
    const auto compare = [&] {
      worst = std::max(worst, (got - expected).allFinite() ? (got - expected).cwiseAbs().maxCoeff() : INFINITY);
    };
    size = std::max({1.0, plain[i].cwiseAbs().maxCoeff(), plain[j].cwiseAbs().maxCoeff()});
    lazy.penalty_direction(x, own[i], own[j], lambda, got);
    on_dense.penalty_direction(dense, x, plain[i], plain[j], lambda, expected);
    compare();
    lazy.dual_direction(x, own[i], own[j], lambda, got);
    on_dense.dual_direction(dense, x, plain[i], plain[j], lambda, expected);
    compare();
    lazy.central_direction(x, own[i], own[j], lambda, got);
    on_dense.central_direction(dense, x, plain[i], plain[j], lambda, expected);
    compare();
    return worst;
  }
};

RC_GTEST_PROP(SoftmaxL2, WhatAPairSharesIsNeverStale, (std::uint64_t seed)) {
  SoftmaxOptions o;
  o.documents = 30;
  o.features = 16;
  o.classes = 3;
  o.batch = 3;
  Mixed m(o, seed);
  for (int k = 0; k < 60; ++k) {
    const std::size_t i = m.rng.below(3), j = (i + 1 + m.rng.below(2)) % 3;
    m.operation(i, j);
    const std::size_t a = m.rng.below(3), b = (a + 1 + m.rng.below(2)) % 3;
    double size = 0.0;
    const double error = m.worst_reading(a, b, size);
    const double tolerance = 60 * m.lambda * 1000 * epsilon * size * size * 3.0;  // three classes a product
    RC_ASSERT(error <= m.lambda * tolerance);
    Vector<double> out(m.lazy.dims().y);
    m.lazy.to_dense(m.own[a], out);
    RC_ASSERT((out - m.plain[a]).cwiseAbs().maxCoeff() <= tolerance);
    RC_ASSERT(m.lazy.all_finite(m.own[a]));
  }
}

TEST(SoftmaxL2, APairReadInTheOtherRolesIsNotThePairThatStepped) {
  SoftmaxL2<double> p(small(), 1);
  Rng rng(4);
  auto a = p.make_inner(), b = p.make_inner();
  p.from_dense(drawn_vector<double>(rng, 300), a);
  p.from_dense(drawn_vector<double>(rng, 300), b);
  const Vector<double> x = Vector<double>::Constant(60, 0.1);
  Vector<double> forth(60), back(60);
  p.descend_pair(x, a, b, 0.0375, {1.0, 8.0}, 0.3, 3);
  p.penalty_direction(x, a, b, 8.0, forth);
  p.penalty_direction(x, b, a, 8.0, back);
  EXPECT_LE((forth + back).cwiseAbs().maxCoeff(), 1e-12);  // |a|² − |b|² and its opposite, of some 8 · 100 ε
  p.descend_dual(x, a, b, {0.3, 0.0375, 8.0}, 3);
  p.central_direction(x, a, b, 8.0, forth);
  p.central_direction(x, b, a, 8.0, back);
  EXPECT_LE((forth - back).cwiseAbs().maxCoeff(), 1e-12);
}

// ---- Threads, memory, checkpoints -----------------------------------------------------------------------------------

bool same_bits(const Vector<float>& a, const Vector<float>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

// Three chunks of features, four of rows, several of a batch's features.
SoftmaxOptions large() {
  SoftmaxOptions o;
  o.documents = 600;
  o.features = 20'000;
  o.classes = 3;
  o.batch = 100;
  return o;
}

TEST(SoftmaxL2, AnyNumberOfThreadsGivesTheSameBits) {
  const auto data = std::make_shared<const LabelledRows>(generate_rows(large(), 3));
  for (const Sharing sharing : {Sharing::feature, Sharing::group})
    for (const Walk walk : walks)
      for (const bool drawn : {false, true}) {
        SoftmaxOptions o = large();
        o.sharing = sharing;
        const Course c{.walk = walk, .rounds = 6, .drawn = drawn, .gamma = 1e-3};
        std::vector<Vector<float>> first;
        for (const int threads : {1, 2, 3}) {
          Walker<SoftmaxL2<float>> walker(o, 3, 0.02);
          walker.problem.set_threads(threads);
          std::vector<Vector<float>> seen;
          for (Round t = 1; t <= c.rounds; ++t) {
            walker.round(c, t);
            walker.move(c);
            seen.push_back(walker.x);
          }
          seen.push_back(walker.dense(walker.a));
          seen.push_back(walker.dense(walker.b));
          if (threads == 1) first = seen;
          for (std::size_t i = 0; i < seen.size(); ++i)
            ASSERT_TRUE(same_bits(seen[i], first[i]))
                << name_of(walk) << ", " << threads << " threads, drawn " << drawn;
        }
        ASSERT_GT((first[5].array() != 0.02f).count(), 0) << "x must move for the test to mean anything";
      }
}

// Both slots of a batch and all scratch are there after a few rounds; a dense step has its buffers after the first.
TEST(SoftmaxL2, AStepAllocatesNothingAfterTheFirstRounds) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "cannot count here";
  for (const Feed feed : {Feed::split, Feed::judge})
    for (const Sharing sharing : {Sharing::feature, Sharing::group})
      for (const Walk walk : walks)
        for (const bool drawn : {false, true})
          for (const double ratio : {1.0, 0.9}) {
            SoftmaxOptions o = small();
            o.documents = 100;
            o.feed = feed;
            o.sharing = sharing;
            o.temperature = Temperature::fitted;
            // of two epochs at most, both of which come in the first 40 rounds
            o.replay = 4;
            o.replay_window = 90;
            Walker<SoftmaxL2<double>> walker(o, 3, 0.02);
            const Course c{.walk = walk, .drawn = drawn, .ratio = ratio};
            Round t = 1;
            for (; t <= 40; ++t) walker.round(c, t);
            const test::AllocationCounter counter;
            for (; t <= 80; ++t) walker.round(c, t);
            EXPECT_EQ(counter.count(), 0u) << name_of(walk) << ", drawn " << drawn << ", ratio " << ratio << ", feed "
                                           << obolus::name_of(feed) << ", " << obolus::name_of(sharing);
          }
}

TEST(SoftmaxL2, ASavedPairGoesOnAsIfNothingHadHappened) {
  SoftmaxOptions judge = small();  // the first rounds' batches are smaller, and one that goes on later never sees them
  judge.feed = Feed::judge;
  judge.replay = 3 * judge.batch;
  judge.features = 400;
  for (const SoftmaxOptions& options : {small(), judge})
    for (const Walk walk : walks)
      for (const bool drawn : {false, true}) {
        const Course c{.walk = walk, .drawn = drawn, .gamma = 5e-3};
        Walker<SoftmaxL2<float>> one(options, 3, 0.02), other(options, 3, 0.02);
        Round t = 1;
        for (; t <= 30; ++t) {
          one.round(c, t);
          one.move(c);
        }
        Archive saved;
        saved("a", one.a);
        saved("b", one.b);
        saved("x", one.x);
        Archive loading(saved.bytes());
        loading("a", other.a);
        loading("b", other.b);
        loading("x", other.x);
        loading.finish();
        other.direct(c, 30);
        one.direct(c, 30);
        ASSERT_TRUE(same_bits(other.d, one.d)) << name_of(walk);
        for (; t <= 60; ++t) {
          one.round(c, t);
          one.move(c);
          other.round(c, t);
          other.move(c);
          ASSERT_TRUE(same_bits(other.x, one.x)) << name_of(walk) << ", round " << t;
        }
        EXPECT_TRUE(same_bits(other.dense(other.a), one.dense(one.a)));
        EXPECT_TRUE(same_bits(other.dense(other.b), one.dense(one.b)));
      }
}

// A draw of nothing leaves nothing to learn from, and the penalty alone shrinks the weights.
TEST(SoftmaxL2, ADrawOfNothingShrinksTheWeights) {
  SoftmaxL2<double> p(small(), 1);
  const Vector<double> x = Vector<double>::Constant(p.dims().x, 0.5), before = Vector<double>::Ones(p.dims().y);
  Vector<double> after(p.dims().y);
  auto z = p.make_inner();
  p.from_dense(before, z);
  p.reveal(1);
  Rng rng(1);
  p.resample({0, 0}, rng);
  p.descend(x, z, 0.1);
  p.to_dense(z, after);
  EXPECT_LE((after - 0.95 * before).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(SoftmaxL2, RowsThatTheKernelsCouldNotReadAreRefused) {
  const auto refusal = [](auto&& spoil) -> std::string {
    LabelledRows rows = generate_rows(small(), 3);
    spoil(rows);
    try {
      SoftmaxL2<double>(small(), std::make_shared<const LabelledRows>(std::move(rows)), 1);
    } catch (const DataError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal([](LabelledRows&) {}), "accepted");
  EXPECT_NE(
      refusal([](LabelledRows& r) { std::swap(r.train.column[0], r.train.column[1]); }).find("columns that ascend"),
      std::string::npos);
  EXPECT_NE(refusal([](LabelledRows& r) { r.train.column[1] = r.train.column[0]; }).find("row 0 of train: got column"),
            std::string::npos);
  EXPECT_NE(refusal([](LabelledRows& r) {
              r.test.column.back() = static_cast<std::int32_t>(r.test.columns);
            }).find("of test: got column"),
            std::string::npos);
  EXPECT_NE(refusal([](LabelledRows& r) { r.train_label[2] = -1; }).find("row 2 of train: got label -1, expected 0 to"),
            std::string::npos);
  EXPECT_NE(refusal([](LabelledRows& r) { r.test_label.pop_back(); }).find("labels of test, expected"),
            std::string::npos);
}

TEST(SoftmaxL2, AnIterateOfAnotherShapeIsRefused) {
  SoftmaxL2<double> p(small(5), 1), q(small(3), 1);
  auto five = p.make_inner(), three = q.make_inner();
  Archive saved;
  saved("it", five);
  Archive loading(saved.bytes());
  EXPECT_THROW(loading("it", three), DataError);
}

TEST(SoftmaxL2, SaysWhichKernelsRun) {
  const std::string name = SoftmaxL2<double>(small(), 1).kernels();
  EXPECT_TRUE(name == "avx512" || name == "avx2" || name == "portable") << name;
}

}  // namespace
