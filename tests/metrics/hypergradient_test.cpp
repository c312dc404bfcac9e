#include "obolus/metrics/hypergradient.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <utility>

#include "obolus/any/erased.hpp"
#include "obolus/check/plain.hpp"
#include "obolus/problems/quadratic.hpp"
#include "obolus/problems/quadratic_file.hpp"
#include "tests/sound_problem.hpp"

namespace {

using namespace obolus;
using test::SoundProblem;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

QuadraticRound<double> random_round(Index d1, Index d2, std::uint64_t seed) {
  Rng rng(seed);
  QuadraticRound<double> q;
  Matrix<double> root(d2, d2);
  q.B.resize(d2, d1);
  q.b.resize(d2);
  q.c.resize(d2);
  q.e.resize(d1);
  rng.fill_normal(root);
  rng.fill_normal(q.B);
  rng.fill_normal(q.b);
  rng.fill_normal(q.c);
  rng.fill_normal(q.e);
  q.A = root * root.transpose() / double(d2) + Matrix<double>::Identity(d2, d2);
  q.w = 0.8;
  q.s = 0.3;
  q.r = 0.2;
  return q;
}

// ∇F = r(x − e) + B'A⁻¹ (w(y* − c) + s cos y*)
Vector<double> by_formula(const QuadraticRound<double>& q, const Vector<double>& x) {
  const Eigen::LLT<Matrix<double>> factor(q.A);
  const Vector<double> y = factor.solve(q.B * x + q.b);
  const Vector<double> f_y = q.w * (y - q.c) + q.s * y.array().cos().matrix();
  return q.r * (x - q.e) + q.B.transpose() * factor.solve(f_y);
}

// |A|, hence κ, stays below 10 for such A; vectors are below 10 and |B| below 6. CG stops at 1e-14, which κ may
// multiply; LLT and the sums add some ten ε. 1e-12 leaves a factor of ten.
RC_GTEST_PROP(Hypergradient, IsTheFormulaOnQuadratics, (std::uint64_t seed)) {
  const auto d1 = *rc::gen::inRange<Index>(1, 6), d2 = *rc::gen::inRange<Index>(1, 9);
  const QuadraticRound<double> q = random_round(d1, d2, seed);
  QuadraticFile<double> p({q}, {});
  Hypergradient<QuadraticFile<double>> hypergradient(p);
  Vector<double> x(d1), gradient(d1);
  Rng(seed).child("x").fill_normal(x);
  RC_ASSERT(hypergradient(p, x, gradient));
  RC_ASSERT(hypergradient.closed_form());
  RC_ASSERT((gradient - by_formula(q, x)).norm() <= 1e-12 * (10.0 + gradient.norm()));
  RC_ASSERT((q.A * hypergradient.solution() - q.B * x - q.b).norm() <= 1e-13 * (10.0 + x.norm()));
  RC_ASSERT(hypergradient.inner_residual() <= 1e-13 * (10.0 + x.norm()));
}

RC_GTEST_PROP(Hypergradient, NeedsNoClosedForm, (std::uint64_t seed)) {
  const QuadraticRound<double> q = random_round(3, 5, seed);
  QuadraticFile<double> p({q}, {});
  PlainWithProducts<QuadraticFile<double>> hidden(p);
  static_assert(HvpOracle<decltype(hidden)> && !ClosedFormOracle<decltype(hidden)>);
  Hypergradient<decltype(hidden)> hypergradient(hidden);
  Vector<double> x(3), gradient(3);
  Rng(seed).child("x").fill_normal(x);
  RC_ASSERT(hypergradient(hidden, x, gradient));
  RC_ASSERT(!hypergradient.closed_form());
  RC_ASSERT((gradient - by_formula(q, x)).norm() <= 1e-12 * (10.0 + gradient.norm()));
  RC_ASSERT(hypergradient.inner_residual() <= reference_tolerance<double> * (q.B * x + q.b).norm());
}

// Products by differences err by ε^(2/3) = 4e-11 of the gradients' size; κ and |g_xy| multiply that.
RC_GTEST_PROP(Hypergradient, NeedsNoProducts, (std::uint64_t seed)) {
  const QuadraticRound<double> q = random_round(3, 5, seed);
  QuadraticFile<double> p({q}, {});
  Plain<QuadraticFile<double>> plain(p);
  static_assert(!HvpOracle<decltype(plain)>);
  Hypergradient<decltype(plain)> hypergradient(plain);
  Vector<double> x(3), gradient(3);
  Rng(seed).child("x").fill_normal(x);
  RC_ASSERT(hypergradient(plain, x, gradient));
  RC_ASSERT((gradient - by_formula(q, x)).norm() <= 1e-8 * (1.0 + gradient.norm()));
}

// 2,000 steps contract by 1 − αμ ≤ 0.9 each: nothing of the start is left. CG stops at a thousandth, on a damped
// system.
RC_GTEST_PROP(Hypergradient, ReferenceStepsSolveTheDampedSystemWhereTheyEnd, (std::uint64_t seed)) {
  QuadraticRound<double> q = random_round(3, 5, seed);
  QuadraticFile<double> p({q}, {});
  const auto damping = *rc::gen::element(0.0, 0.5);
  Hypergradient<QuadraticFile<double>> hypergradient(p,
                                                     {.steps = 2000, .alpha = 0.1, .damping = damping, .products = 50});
  Vector<double> x(3), gradient(3), start(5);
  Rng(seed).child("x").fill_normal(x);
  Rng(seed).child("y").fill_normal(start);
  RC_ASSERT(hypergradient(p, x, start, gradient));
  RC_ASSERT(!hypergradient.closed_form());
  const Vector<double> y = Eigen::LLT<Matrix<double>>(q.A).solve(q.B * x + q.b);
  RC_ASSERT((hypergradient.solution() - y).norm() <= 1e-12 * (10.0 + y.norm()));
  const Vector<double> f_y = q.w * (y - q.c) + q.s * y.array().cos().matrix();
  q.A += damping * Matrix<double>::Identity(5, 5);
  const Vector<double> v = Eigen::LLT<Matrix<double>>(q.A).solve(f_y);
  const Vector<double> expected = q.r * (x - q.e) + q.B.transpose() * v;
  RC_ASSERT((gradient - expected).norm() <= 1e-3 * q.B.norm() * f_y.norm());  // |A⁻¹| ≤ 1
}

// κ = 5 and some ten roundings of numbers near 1, in float.
TEST(Hypergradient, FloatAgreesWithDouble) {
  const QuadraticOptions options{.sine = 0.3};
  Quadratic<double> p(options, 3);
  Quadratic<float> q(options, 3);
  Hypergradient<Quadratic<double>> exact(p);
  Hypergradient<Quadratic<float>> single(q);
  const Vector<double> x = Vector<double>::LinSpaced(5, -1.0, 1.0);
  Vector<double> gradient(5);
  Vector<float> in_float(5);
  ASSERT_TRUE(exact(p, x, gradient));
  ASSERT_TRUE(single(q, x.cast<float>(), in_float));
  EXPECT_LE((in_float.cast<double>() - gradient).norm(), 50.0 * double(std::numeric_limits<float>::epsilon()));
}

TEST(Hypergradient, WithAClosedFormNothingDependsOnTheCallsBefore) {
  Quadratic<double> p({}, 3);
  Hypergradient<Quadratic<double>> used(p), fresh(p);
  const Vector<double> x = Vector<double>::Constant(5, 0.3), elsewhere = Vector<double>::Constant(5, -9.0);
  Vector<double> first(5), second(5);
  p.reveal(7);
  used(p, elsewhere, first);
  p.reveal(2);
  used(p, x, first);
  fresh(p, x, second);
  EXPECT_EQ(first, second);
}

// g = √(1 + y²) + μy²/2 − xy with a slope that flattens out: undamped Newton jumps ever further from any |y| > 1.
struct Flattening {
  using Scalar = double;
  double mu = 1e-3;
  int gradients = 0;
  static double root(In<double> y) { return std::sqrt(1.0 + y(0) * y(0)); }
  Dims dims() const { return {1, 1}; }
  double outer_value(In<double>, In<double> y) { return 0.5 * y(0) * y(0); }
  double inner_value(In<double> x, In<double> y) { return root(y) + 0.5 * mu * y(0) * y(0) - x(0) * y(0); }
  void outer_gradient_x(In<double>, In<double>, Out<double> d) { d(0) = 0.0; }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) { d = y; }
  void inner_gradient_x(In<double>, In<double> y, Out<double> d) { d = -y; }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) {
    ++gradients;
    d(0) = y(0) / root(y) + mu * y(0) - x(0);
  }
  void inner_hvp_yy(In<double>, In<double> y, In<double> v, Out<double> d) {
    d(0) = (std::pow(root(y), -3.0) + mu) * v(0);
  }
  void inner_hvp_xy(In<double>, In<double>, In<double> v, Out<double> d) { d = -v; }
};

// ∇F = y* dy*/dx = y*/(g_yy). The residual is 1e-12 at most, and dividing by g_yy ≥ 1e-3 twice leaves 1e-6 relative to
// 1.
TEST(Hypergradient, ReferenceSolvesFindTheirWayFromFarStarts) {
  Flattening p;
  Hypergradient<Flattening> hypergradient(p);
  Vector<double> gradient(1);
  for (const double x : {0.3, 1.9, -0.99, 5.0, -5.0, 0.0}) {  // y* from 900 to −4000 and back
    ASSERT_TRUE(hypergradient(p, Vector<double>::Constant(1, x), gradient)) << x;
    const double y = hypergradient.solution()(0);
    EXPECT_LE(std::abs(y / std::sqrt(1.0 + y * y) + p.mu * y - x), reference_tolerance<double> * std::abs(x)) << x;
    EXPECT_NEAR(gradient(0), y / (std::pow(1.0 + y * y, -1.5) + p.mu), 1e-6 * (1.0 + std::abs(gradient(0)))) << x;
  }
}

TEST(Hypergradient, ReferenceSolvesStartFromTheLastSolution) {
  Flattening p;
  Hypergradient<Flattening> hypergradient(p);
  Vector<double> gradient(1);
  ASSERT_TRUE(hypergradient(p, Vector<double>::Constant(1, 1.9), gradient));
  const int cold = std::exchange(p.gradients, 0);
  ASSERT_TRUE(hypergradient(p, Vector<double>::Constant(1, 1.9 + 1e-9), gradient));
  EXPECT_LT(p.gradients, cold);
  EXPECT_LE(p.gradients, 5);  // scale, start, a Newton step, and one that no longer halves
}

TEST(Hypergradient, SavedStateGoesOnWithTheSameBits) {
  SoundProblem<double> p;
  Hypergradient<SoundProblem<double>> running(p), restored(p);
  Vector<double> expected(2), got(2);
  running(p, Vector<double>::Constant(2, 0.4), expected);
  Archive saved;
  saved("hypergradient", running);
  Archive loading(saved.bytes());
  loading("hypergradient", restored);
  loading.finish();
  const Vector<double> x = Vector<double>::Constant(2, 0.5);
  EXPECT_TRUE(running(p, x, expected));
  EXPECT_TRUE(restored(p, x, got));
  EXPECT_EQ(got, expected);
  EXPECT_EQ(restored.solution(), running.solution());
}

TEST(Hypergradient, TheErasedLayerIsAskedWhatItsProblemCanDo) {
  Erased<SoundProblem<double>> erased(std::in_place);
  AnyOracle<double>& any = erased;
  SoundProblem<double> p;
  Hypergradient<AnyOracle<double>> through(any);
  Hypergradient<SoundProblem<double>> direct(p);
  Vector<double> expected(2), got(2);
  const Vector<double> x = Vector<double>::Constant(2, 0.5);
  EXPECT_TRUE(direct(p, x, expected));
  EXPECT_TRUE(through(any, x, got)) << "a call it does not have would have thrown";
  EXPECT_FALSE(through.closed_form());
  EXPECT_EQ(got, expected);
}

// A gradient that cannot be trusted is reported as such.

struct Saddle : Flattening {
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) { d(0) = -y(0) - x(0); }
  void inner_hvp_yy(In<double>, In<double>, In<double> v, Out<double> d) { d = -v; }
};
struct Unbounded : Flattening {
  void inner_gradient_y(In<double>, In<double> y, Out<double> d) { d(0) = std::exp(-y(0)); }
  void inner_hvp_yy(In<double>, In<double> y, In<double> v, Out<double> d) { d = -std::exp(-y(0)) * v; }
};
template <class P>
bool trusted(double x) {
  P p;
  Hypergradient<P> hypergradient(p);
  Vector<double> gradient(1);
  return hypergradient(p, Vector<double>::Constant(1, x), gradient);
}
TEST(Hypergradient, SaysWhenItCannotBeTrusted) {
  EXPECT_TRUE(trusted<Flattening>(0.5));
  EXPECT_FALSE(trusted<Saddle>(0.5)) << "g_yy is negative";
  EXPECT_FALSE(trusted<Unbounded>(0.5)) << "g has no minimum";
  EXPECT_FALSE(trusted<Flattening>(std::nan("")));
  EXPECT_FALSE(trusted<Flattening>(std::numeric_limits<double>::infinity()));
}

TEST(Hypergradient, ALostRoundDoesNotSpoilTheNext) {
  Flattening p;
  Hypergradient<Flattening> hypergradient(p), fresh(p);
  Vector<double> gradient(1), expected(1);
  EXPECT_TRUE(fresh(p, Vector<double>::Constant(1, 0.5), expected));
  EXPECT_FALSE(hypergradient(p, Vector<double>::Constant(1, std::nan("")), gradient));
  EXPECT_TRUE(hypergradient(p, Vector<double>::Constant(1, 0.5), gradient));
  EXPECT_NEAR(gradient(0), expected(0), 100 * epsilon);
}

TEST(ReferenceSolution, ZeroIsFoundExactlyWhereItIsTheSolution) {
  Flattening p;
  ReferenceWorkspace<double> work(1);
  Vector<double> y = Vector<double>::Constant(1, 0.5);
  const ReferenceResult r = solve_inner(p, Vector<double>::Zero(1), y, work);
  EXPECT_TRUE(r.converged);
  EXPECT_LE(std::abs(y(0)), reference_tolerance<double>);
  y.setZero();
  const ReferenceResult at_once = solve_inner(p, Vector<double>::Zero(1), y, work);
  EXPECT_TRUE(at_once.converged);
  EXPECT_EQ(at_once.iterations, 0);
}

// g = ln(1 + e^(−y)) + ½ e^x y², whose minimiser runs off as x → −∞: separable data without a penalty.
struct Separable {
  using Scalar = double;
  [[nodiscard]] Dims dims() const { return {1, 1}; }
  double outer_value(In<double>, In<double> y) { return 0.5 * y[0] * y[0]; }
  double inner_value(In<double> x, In<double> y) {
    return std::log1p(std::exp(-y[0])) + 0.5 * std::exp(x[0]) * y[0] * y[0];
  }
  void outer_gradient_x(In<double>, In<double>, Out<double> d) { d[0] = 0.0; }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) { d[0] = y[0]; }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) { d[0] = 0.5 * std::exp(x[0]) * y[0] * y[0]; }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) {
    d[0] = -1.0 / (1.0 + std::exp(y[0])) + std::exp(x[0]) * y[0];
  }
  void inner_hvp_yy(In<double> x, In<double> y, In<double> v, Out<double> d) {
    const double p = 1.0 / (1.0 + std::exp(y[0]));
    d[0] = (p * (1.0 - p) + std::exp(x[0])) * v[0];
  }
  void inner_hvp_xy(In<double> x, In<double> y, In<double> v, Out<double> d) { d[0] = std::exp(x[0]) * y[0] * v[0]; }
};

TEST(Hypergradient, AfterARoundThatCannotBeUsedTheNextStartsAfresh) {
  Separable p;
  Hypergradient<Separable> hypergradient(p);
  Vector<double> gradient(1), fresh(1);
  const Vector<double> good = Vector<double>::Zero(1);
  const Vector<double> bad = Vector<double>::Constant(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(hypergradient(p, bad, gradient));
  EXPECT_FALSE(hypergradient.usable());
  EXPECT_TRUE(hypergradient(p, good, gradient));
  EXPECT_TRUE(hypergradient.usable());
  Hypergradient<Separable> other(p);
  EXPECT_TRUE(other(p, good, fresh));
  EXPECT_EQ(gradient, fresh);
}

// Curvatures of 1 and of 1e-20, y* = 0 along the second: v = A⁻¹ f_y has no correct digit there.
TEST(Hypergradient, ASystemThatIsSingularToRoundingCannotBeUsed) {
  QuadraticRound<double> q = random_round(2, 2, 3);
  for (const double small : {1e-10, 1e-20}) {
    q.A = Vector<double>{{1.0, small}}.asDiagonal();
    q.B.row(1).setZero();
    q.b(1) = 0.0;
    QuadraticFile<double> p({q}, {});
    Hypergradient<QuadraticFile<double>> hypergradient(p);
    Vector<double> gradient(2);
    hypergradient(p, Vector<double>::Ones(2), gradient);
    EXPECT_EQ(hypergradient.usable(), small > 1e-15) << small;
  }
}

}  // namespace
