#include "obolus/core/inner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "obolus/check/place.hpp"
#include "obolus/check/plain.hpp"
#include "obolus/core/counted.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "tests/lazy_ridge.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using checks::rounding;
using test::LazyRidge;
using test::SoundProblem;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class S>
Vector<S> drawn(Rng& rng, Index size) {
  Vector<S> v(size);
  rng.fill_normal(v);
  return v;
}

// Defaults, against the formulas in their comments.

struct Dense {
  SoundProblem<double> p;
  InnerSpace<SoundProblem<double>> space{p};
  Vector<double> x, y, z, w, d = Vector<double>::Zero(2);
  explicit Dense(std::uint64_t seed) {
    Rng rng(seed);
    x = drawn<double>(rng, 2);
    y = drawn<double>(rng, 3);
    z = drawn<double>(rng, 3);
    w = drawn<double>(rng, 3);
  }
  Vector<double> f_y(const Vector<double>& at) {
    p.outer_gradient_y(x, at, buffer);
    return buffer;
  }
  Vector<double> g_y(const Vector<double>& at) {
    p.inner_gradient_y(x, at, buffer);
    return buffer;
  }
  Vector<double> f_x(const Vector<double>& at) {
    p.outer_gradient_x(x, at, d);
    return d;
  }
  Vector<double> g_x(const Vector<double>& at) {
    p.inner_gradient_x(x, at, d);
    return d;
  }
  // A few operations on numbers below 1e3 (cosh of 5 deviations is 74, times λ): the bound of 1e-10 is 4e5 ε.
  static constexpr double tolerance = 1e-10;

 private:
  Vector<double> buffer = Vector<double>::Zero(3);
};

RC_GTEST_PROP(InnerSpace, DefaultStepsAreTheirFormulas, (std::uint64_t seed)) {
  Dense c(seed);
  const double alpha = 0.1, beta = 0.02, lambda = 6.0;
  Vector<double> expected = c.z - alpha * c.g_y(c.z), got = c.z;
  c.space.descend(c.p, c.x, got, alpha);
  RC_ASSERT((got - expected).norm() <= c.tolerance);

  expected = c.y - beta * (0.7 * c.f_y(c.y) + lambda * c.g_y(c.y));
  got = c.y;
  c.space.descend_penalised(c.p, c.x, got, beta, {0.7, lambda});
  RC_ASSERT((got - expected).norm() <= c.tolerance);

  Vector<double> other = c.z;
  got = c.y;
  c.space.descend_pair(c.p, c.x, got, other, beta, {0.7, lambda}, alpha);
  RC_ASSERT((got - expected).norm() <= c.tolerance);
  RC_ASSERT((other - (c.z - alpha * c.g_y(c.z))).norm() <= c.tolerance);

  const Vector<double> at = c.z + c.w / lambda;
  expected = c.w - lambda * beta * c.f_y(at) - lambda * (lambda * beta * c.g_y(at) - alpha * c.g_y(c.z));
  got = c.w;
  other = c.z;
  c.space.descend_dual(c.p, c.x, other, got, {alpha, beta, lambda});
  RC_ASSERT((got - expected).norm() <= c.tolerance);
  RC_ASSERT((other - (c.z - alpha * c.g_y(c.z))).norm() <= c.tolerance);
}

RC_GTEST_PROP(InnerSpace, ACentredStepIsItsFormula, (std::uint64_t seed)) {
  Dense c(seed);
  const double beta = 0.02, lambda = 6.0;
  const Vector<double> up = c.z + c.w / lambda, down = c.z - c.w / lambda;
  const Vector<double> centre = c.z - 0.5 * beta * (c.f_y(up) - c.f_y(down) + lambda * (c.g_y(up) + c.g_y(down)));
  const Vector<double> half =
      c.w - 0.5 * lambda * beta * (c.f_y(up) + c.f_y(down) + lambda * (c.g_y(up) - c.g_y(down)));
  const Vector<double> direction = 0.5 * (c.f_x(up) + c.f_x(down)) + 0.5 * lambda * (c.g_x(up) - c.g_x(down));
  Vector<double> got(2);
  c.space.central_direction(c.p, c.x, c.z, c.w, lambda, got);
  RC_ASSERT((got - direction).norm() <= c.tolerance);
  c.space.descend_central(c.p, c.x, c.z, c.w, {beta, lambda});
  RC_ASSERT((c.z - centre).norm() <= c.tolerance);
  RC_ASSERT((c.w - half).norm() <= c.tolerance);
}

// Bit for bit, with the default and with a problem's own single step.
TEST(InnerSpace, SeveralStepsAreThatManySteps) {
  struct OwnSteps : SoundProblem<double> {
    void descend(In<double> x, Vector<double>& z, double alpha) { default_.descend(*base_, x, z, alpha); }
    void descend_penalised(In<double> x, Vector<double>& y, double beta, Penalty penalty) {
      default_.descend_penalised(*base_, x, y, beta, penalty);
    }
    void descend_dual(In<double> x, Vector<double>& z, Vector<double>& w, DualStep step) {
      default_.descend_dual(*base_, x, z, w, step);
    }
    std::unique_ptr<SoundProblem<double>> base_ = std::make_unique<SoundProblem<double>>();
    InnerSpace<SoundProblem<double>> default_{*base_};
  };
  const auto walk = [](auto& problem, std::int64_t at_once) {
    InnerSpace<std::remove_reference_t<decltype(problem)>> space(problem);
    Dense c(8);
    for (std::int64_t k = 0; k < 12 / at_once; ++k) space.descend(problem, c.x, c.z, 0.05, at_once);
    for (std::int64_t k = 0; k < 12 / at_once; ++k)
      space.descend_penalised(problem, c.x, c.y, 0.005, {1.0, 8.0}, at_once);
    for (std::int64_t k = 0; k < 12 / at_once; ++k)
      space.descend_pair(problem, c.x, c.y, c.z, 0.005, {1.0, 8.0}, 0.05, at_once);
    for (std::int64_t k = 0; k < 12 / at_once; ++k)
      space.descend_dual(problem, c.x, c.z, c.w, {0.05, 0.00625, 8.0}, at_once);
    for (std::int64_t k = 0; k < 12 / at_once; ++k)
      space.descend_central(problem, c.x, c.z, c.w, {0.005, 8.0}, at_once);
    return Vector<double>((Vector<double>(9) << c.y, c.z, c.w).finished());
  };
  SoundProblem<double> plain;
  OwnSteps own;
  const Vector<double> expected = walk(plain, 1);
  for (const std::int64_t at_once : {1, 2, 4, 12}) {
    EXPECT_EQ(walk(plain, at_once), expected) << at_once;
    EXPECT_EQ(walk(own, at_once), expected) << at_once;
  }
}

RC_GTEST_PROP(InnerSpace, DefaultReadingsAreTheirFormulas, (std::uint64_t seed)) {
  Dense c(seed);
  const double lambda = 6.0;
  RC_ASSERT(std::abs(c.space.gradient_norm(c.p, c.x, c.z) - c.g_y(c.z).norm()) <= c.tolerance);
  RC_ASSERT(std::abs(c.space.penalised_gradient_norm(c.p, c.x, c.y, {0.7, lambda}) -
                     (0.7 * c.f_y(c.y) + lambda * c.g_y(c.y)).norm()) <= c.tolerance);
  Vector<double> got(2);
  Vector<double> expected = c.f_x(c.y) + lambda * (c.g_x(c.y) - c.g_x(c.z));
  c.space.penalty_direction(c.p, c.x, c.y, c.z, lambda, got);
  RC_ASSERT((got - expected).norm() <= c.tolerance);
  const Vector<double> at = c.z + c.w / lambda;
  expected = c.f_x(at) + lambda * (c.g_x(at) - c.g_x(c.z));
  c.space.dual_direction(c.p, c.x, c.z, c.w, lambda, got);
  RC_ASSERT((got - expected).norm() <= c.tolerance);
  got = c.y;
  Vector<double> sum = c.w;
  c.space.axpy(c.p, -1.5, c.y, sum);
  RC_ASSERT((sum - (c.w - 1.5 * c.y)).norm() <= c.tolerance);
}

// y = z + w/λ in exact arithmetic. Steps contract (α times the curvature of g stays below 1 near these points), so 50
// of them leave some ten roundings of numbers near 10, and w of λ times that.
RC_GTEST_PROP(InnerSpace, TheDualFormIsThePairAtAConstantMultiplier, (std::uint64_t seed)) {
  Dense c(seed);
  const double alpha = 0.05, lambda = 20.0, beta = *rc::gen::element(0.5, 1.0) * alpha / lambda;
  c.y *= 0.5;
  c.z *= 0.5;
  c.w = lambda * (c.y - c.z);
  Vector<double> dual_z = c.z;
  for (int k = 0; k < 50; ++k) {
    c.space.descend_pair(c.p, c.x, c.y, c.z, beta, {1.0, lambda}, alpha);
    c.space.descend_dual(c.p, c.x, dual_z, c.w, {alpha, beta, lambda});
  }
  RC_ASSERT((dual_z - c.z).norm() <= 1000 * epsilon);
  RC_ASSERT((dual_z + c.w / lambda - c.y).norm() <= 1000 * epsilon);
  Vector<double> direct(2), dual(2);
  c.space.penalty_direction(c.p, c.x, c.y, c.z, lambda, direct);
  c.space.dual_direction(c.p, c.x, dual_z, c.w, lambda, dual);
  RC_ASSERT((direct - dual).norm() <= lambda * 1000 * epsilon);
}

// y_±1 = c ± w/λ in exact arithmetic, likewise.
RC_GTEST_PROP(InnerSpace, TheCentredFormIsItsTwoCopiesAtAConstantMultiplier, (std::uint64_t seed)) {
  Dense c(seed);
  const double lambda = 20.0, beta = 0.05 / lambda;
  Vector<double> up = 0.5 * c.y, down = 0.5 * c.z, centre = 0.5 * (up + down), half = 0.5 * lambda * (up - down);
  for (int k = 0; k < 50; ++k) {
    c.space.descend_penalised(c.p, c.x, up, beta, {1.0, lambda});
    c.space.descend_penalised(c.p, c.x, down, beta, {-1.0, lambda});
    c.space.descend_central(c.p, c.x, centre, half, {beta, lambda});
  }
  RC_ASSERT((centre + half / lambda - up).norm() <= 1000 * epsilon);
  RC_ASSERT((centre - half / lambda - down).norm() <= 1000 * epsilon);
}

TEST(InnerSpace, LoopsStopAtTheirToleranceAndSayWhatItTook) {
  Dense c(3);
  Vector<double> z = c.z, stepwise = c.z;
  const Until until{1e-6, 1000};
  const LoopResult r = c.space.descend_until(c.p, c.x, z, 0.1, until);
  EXPECT_TRUE(r.reached(until));
  EXPECT_EQ(r.norm, c.space.gradient_norm(c.p, c.x, z));
  for (std::int64_t k = 0; k < r.steps; ++k) {
    EXPECT_GT(c.space.gradient_norm(c.p, c.x, stepwise), 1e-6);
    c.space.descend(c.p, c.x, stepwise, 0.1);
  }
  EXPECT_EQ(stepwise, z);
}

TEST(InnerSpace, LoopsStopAtTheirCapAndAtNotANumber) {
  Dense c(3);
  const Until capped{1e-300, 3};
  Vector<double> z = c.z;
  LoopResult r = c.space.descend_until(c.p, c.x, z, 0.1, capped);
  EXPECT_EQ(r.steps, 3);
  EXPECT_FALSE(r.reached(capped));
  z(1) = std::nan("");
  r = c.space.descend_until(c.p, c.x, z, 0.1, {1e-6, 1'000'000'000});
  EXPECT_EQ(r.steps, 0);
  EXPECT_TRUE(std::isnan(r.norm));
  EXPECT_FALSE(c.space.all_finite(c.p, z));
  Vector<double> far = c.z;
  r = c.space.descend_until(c.p, c.x, far, 1e6, {1e-6, 1'000'000'000});  // steps that explode end by themselves
  EXPECT_LT(r.steps, 100);
  EXPECT_FALSE(std::isfinite(r.norm));
}

// λ = 50,000 in float: y − z = w/λ is 2e-5, of which z + w/λ keeps two or three digits. The difference oracle never
// forms that sum for g and stays within the rounding of d's own terms; subtracted gradients lose λε|g_x| = 6e-3 |g_x|.
TEST(InnerSpace, ADifferenceKeepsTheDigitsThatSubtractionLoses) {
  struct Subtracting : SoundProblem<float> {
   private:
    using SoundProblem<float>::inner_gradient_x_difference;
  };
  static_assert(!DifferenceOracle<Subtracting> && DifferenceOracle<SoundProblem<float>>);
  constexpr double lambda = 50'000.0;
  double with = 0.0, without = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const Vector<float> x = drawn<float>(rng, 2), z = drawn<float>(rng, 3), w = drawn<float>(rng, 3);
    Vector<float> d(2);
    Vector<double> exact(2);
    SoundProblem<double> reference;
    InnerSpace<SoundProblem<double>> in_double(reference);
    in_double.dual_direction(reference, x.cast<double>(), z.cast<double>(), w.cast<double>(), lambda, exact);
    SoundProblem<float> p;
    InnerSpace<SoundProblem<float>> space(p);
    space.dual_direction(p, x, z, w, lambda, d);
    with = std::max(with, (d.cast<double>() - exact).norm());
    Subtracting q;
    InnerSpace<Subtracting> subtracting(q);
    subtracting.dual_direction(q, x, z, w, lambda, d);
    without = std::max(without, (d.cast<double>() - exact).norm());
  }
  EXPECT_LE(with, rounding<float>(5) * 20.0);  // |f_x| + |g_xy w| ≤ 20 for numbers of up to four deviations
  EXPECT_GE(without, 1e-3);
}

// Storage of the problem's own.

TEST(InnerSpace, UntouchedRowsOnlyChangeTheirScale) {
  LazyRidge<double> p(50, 8, 3, 1);
  InnerSpace<LazyRidge<double>> space(p);
  Rng rng(2);
  const Vector<double> x = Vector<double>::Constant(50, 0.7);
  auto z = space.make(p, drawn<double>(rng, 400));
  const auto before = z;
  for (int k = 0; k < 10; ++k) space.descend(p, x, z, 0.1);
  EXPECT_EQ(p.row_visits(), 10 * 3) << "only the rows with data were looked at";
  for (Index i = 0; i < 50; ++i) {
    if (p.touched(i)) continue;
    EXPECT_EQ(z.values.segment(8 * i, 8), before.values.segment(8 * i, 8));
    EXPECT_NEAR(z.scale(i), std::pow(0.93, 10), 20 * epsilon);
  }
}

// A problem that only says how to read and write its iterates: every primitive goes through the dense form.
struct Halves {
  Vector<double> low, high;
};
struct StoredInHalves : SoundProblem<double> {
  using Inner = Halves;
  Inner make_inner() const { return {Vector<double>::Zero(1), Vector<double>::Zero(2)}; }
  void to_dense(const Inner& inner, Out<double> out) const {
    out.head(1) = inner.low;
    out.tail(2) = inner.high;
  }
  void from_dense(In<double> in, Inner& inner) const {
    inner.low = in.head(1);
    inner.high = in.tail(2);
  }
};
TEST(InnerSpace, ReadingAndWritingDenselyIsEnoughForEveryPrimitive) {
  StoredInHalves p;
  SoundProblem<double> q;
  InnerSpace<StoredInHalves> space(p);
  Dense c(11);
  auto y = space.make(p, c.y), z = space.make(p, c.z), w = space.make(p, c.w);
  const auto walk = [&](auto& problem, auto& s, auto& yy, auto& zz, auto& ww) {
    s.descend(problem, c.x, zz, 0.1);
    s.descend_penalised(problem, c.x, yy, 0.01, {1.0, 8.0});
    s.descend_pair(problem, c.x, yy, zz, 0.01, {1.0, 8.0}, 0.1);
    s.descend_dual(problem, c.x, zz, ww, {0.1, 0.0125, 8.0});
    s.descend_until(problem, c.x, zz, 0.1, {1e-3, 5});
    s.descend_penalised_until(problem, c.x, yy, 0.01, {1.0, 8.0}, {1e-3, 5});
    s.descend_dual_until(problem, c.x, zz, ww, {0.1, 0.0125, 8.0}, {1e-3, 5});
    s.descend_central(problem, c.x, zz, ww, {0.01, 8.0}, 3);
    s.axpy(problem, 0.3, yy, ww);
    s.copy(problem, ww, yy);
    Vector<double> first(2), second(2), third(2);
    s.penalty_direction(problem, c.x, yy, zz, 8.0, first);
    s.dual_direction(problem, c.x, zz, ww, 8.0, second);
    s.central_direction(problem, c.x, zz, ww, 8.0, third);
    return Vector<double>((Vector<double>(8) << first, second, third, s.gradient_norm(problem, c.x, zz),
                           s.penalised_gradient_norm(problem, c.x, yy, {1.0, 8.0}))
                              .finished());
  };
  const Vector<double> own = walk(p, space, y, z, w);
  EXPECT_EQ(own, walk(q, c.space, c.y, c.z, c.w)) << "the same operations on the same numbers";
  Vector<double> dense(3);
  space.to_dense(p, w, dense);
  EXPECT_EQ(dense, c.w);
}

// A lazy problem, the same stripped to its gradients, and the lazy one behind a counter, side by side. Both sides round
// y and z by some ε|θ| per round; d multiplies the difference of these by λ_t|θ|, and x moves by γ times that, in t
// rounds as a random walk of t steps. |θ|² is near 8·3 for rows that met data.
template <class S, class Optimiser>
void stays_with_the_dense_one(const typename Optimiser::Options& options, Round rounds) {
  LazyRidge<S> lazy(8, 3, 2, 4), base(8, 3, 2, 4), behind(8, 3, 2, 4);
  Plain<LazyRidge<S>> plain(base);
  Counted<LazyRidge<S>> counted(behind);
  Counted<Plain<LazyRidge<S>>> counted_plain(plain);
  const Optimiser optimiser(options, ConvexSet::box(0.2, 2.0));
  const Vector<S> x0 = Vector<S>::Constant(8, S(0.5)), y0 = Vector<S>::Constant(24, S(0.1));
  auto own = optimiser.init(lazy, x0, y0);
  auto dense = optimiser.init(counted_plain, x0, y0);
  auto through = optimiser.init(counted, x0, y0);
  Vector<S> y(24), y_dense(24);
  double max_move = 0.0;
  for (Round t = 1; t <= rounds; ++t) {
    const Vector<S> x = dense.x;
    lazy.reveal(t);
    plain.reveal(t);
    behind.reveal(t);
    const Step step = optimiser.step(lazy, own, Rng(1));
    (void)optimiser.step(counted_plain, dense, Rng(1));
    (void)optimiser.step(counted, through, Rng(1));
    ASSERT_EQ(step.status, Status::ok);
    const double bound = 24.0 * std::sqrt(double(t)) * options.gamma(t) * step.lambda * rounding<S>(24);
    ASSERT_LE((own.x - dense.x).norm(), bound) << "round " << t;
    optimiser.read_y(lazy, own, y);
    optimiser.read_y(counted_plain, dense, y_dense);
    ASSERT_LE((y - y_dense).norm(), bound + 5.0 * rounding<S>(24)) << "round " << t;
    ASSERT_EQ(own.x, through.x) << "the counter only counts; round " << t;
    max_move = std::max(max_move, double((x - dense.x).norm()));
  }
  EXPECT_GT(max_move, 1e-3) << "x must move for the test to mean anything";
  EXPECT_EQ(counted.counts(), counted_plain.counts());
}

template <class Options>
Options with(WarmStart warm_start) {
  Options o;
  o.alpha = 0.2;
  o.gamma = 0.02;
  o.lambda1 = 5.0;
  o.tau = 0.5;
  o.warm_start = warm_start;
  return o;
}

TEST(InnerSpace, LazyAndDenseF2oboStayTogetherForHundredsOfRounds) {
  for (const WarmStart w : {WarmStart::separate, WarmStart::tied, WarmStart::dual}) {
    stays_with_the_dense_one<double, F2obo>(with<F2oboOptions>(w), 400);
    stays_with_the_dense_one<float, F2obo>(with<F2oboOptions>(w), 400);
  }
}

// In double only: whether a loop takes one more step depends on a norm within 1e-14 of its tolerance, which some
// thousand comparisons do not meet; in float, within 1e-6, they might.
TEST(InnerSpace, LazyAndDenseAf2oboStayTogetherForHundredsOfRounds) {
  for (const WarmStart w : {WarmStart::separate, WarmStart::tied, WarmStart::dual}) {
    Af2oboOptions options = with<Af2oboOptions>(w);
    options.delta_y = 1e-3;
    options.delta_z = 1e-4;
    stays_with_the_dense_one<double, Af2obo>(options, 200);
  }
}

}  // namespace
