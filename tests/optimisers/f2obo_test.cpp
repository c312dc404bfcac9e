#include "obolus/optimisers/f2obo.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "tests/optimisers/trajectory.hpp"

template struct obolus::test::Sessions<obolus::F2obo>;

namespace {

using namespace obolus;
using namespace obolus::test;

constexpr WarmStart warm_starts[] = {WarmStart::separate, WarmStart::tied, WarmStart::dual};

F2oboOptions options(WarmStart warm_start, BetaRule beta_rule = BetaRule::alpha_over_lambda) {
  auto o = family_options<F2oboOptions>(warm_start, beta_rule);
  o.inner_steps = 3.0;
  return o;
}

constexpr auto algorithm1 = [](auto& reference, const Rng&) {
  reference.algorithm1();
  return true;
};

template <class S>
void compare_with_reference() {
  on_every_stream<S>([]<class P>(const std::string& stream, const typename P::Options& problem) {
    P ours(problem, 11), theirs(problem, 11);
    in_every_way(ours.dims().x, [&](const std::string& way, const SlowSet& set, WarmStart warm_start, BetaRule rule) {
      SCOPED_TRACE(stream + ", " + way);
      expect_reference_trajectory<F2obo>(ours, theirs, options(warm_start, rule), set, algorithm1,
                                         [](const Step& step, auto&) {
                                           EXPECT_EQ(step.inner_iterations, 3);
                                           EXPECT_EQ(step.steps_y, 3);
                                           EXPECT_EQ(step.steps_z, 3);
                                           EXPECT_FALSE(step.capped);
                                         });
    });
  });
}

TEST(F2obo, FollowsTheSlowReferenceInDouble) { compare_with_reference<double>(); }
TEST(F2obo, FollowsTheSlowReferenceInFloat) { compare_with_reference<float>(); }

TEST(F2obo, FollowsTheSlowReferenceWithAScheduleOfInnerStepsAndAStepOfZThatFalls) {
  Quadratic<double> ours(small_quadratic(Drift::slow, 0.0), 5), theirs(small_quadratic(Drift::slow, 0.0), 5);
  for (const WarmStart warm_start : warm_starts) {
    F2oboOptions o = options(warm_start);
    o.alpha = Schedule(0.2, -0.3);
    o.inner_steps = Schedule(1.0, 0.5);  // 1, 2, 2, 2, 3, … by rounding up
    expect_reference_trajectory<F2obo>(ours, theirs, o, slow_sets(4)[1], algorithm1,
                                       [](const Step& step, auto& reference) {
                                         const std::int64_t expected[] = {1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4};
                                         EXPECT_EQ(step.inner_iterations, expected[reference.t - 1]);
                                       });
  }
}

TEST(F2obo, TheTheoryRuleWithoutAConstantTakesOneOverTheFirstAlpha) {
  Quadratic<double> ours(small_quadratic(Drift::slow, 0.0), 5), theirs(small_quadratic(Drift::slow, 0.0), 5);
  F2oboOptions o = options(WarmStart::separate, BetaRule::theory);
  o.L_g1.reset();
  expect_reference_trajectory<F2obo>(ours, theirs, o, slow_sets(4)[0], algorithm1, [](const Step&, auto&) {});
}

// ---- The single loop -----------------------------------------------------------------------------------------------

TEST(F2oboSingleLoop, IsF2oboWithOneInnerStepBitForBit) {
  for (const WarmStart warm_start : warm_starts) {
    Quadratic<double> p(small_quadratic(Drift::abrupt, 0.7), 3), q(small_quadratic(Drift::abrupt, 0.7), 3);
    F2oboOptions one = options(warm_start);
    one.inner_steps = 1.0;
    const auto single = family_options<F2oboSingleLoopOptions>(warm_start, BetaRule::alpha_over_lambda);
    const Dims dims = p.dims();
    const ConvexSet set = ConvexSet::box(-0.2, 0.25);
    OpenSession<F2obo, Quadratic<double>> a(F2obo(one, set), p, first_x(dims), first_y(dims));
    Session<F2oboSingleLoop, Quadratic<double>> b(F2oboSingleLoop(single, set), q, first_x(dims), first_y(dims));
    Real ya(dims.y), yb(dims.y);
    for (Round t = 1; t <= 30; ++t) {
      p.reveal(t);
      q.reveal(t);
      a.step(Rng(1));
      b.step(Rng(2));
      a.read_y(ya);
      b.read_y(yb);
      ASSERT_EQ(a.x(), b.x()) << "round " << t;
      ASSERT_EQ(ya, yb) << "round " << t;
    }
    EXPECT_EQ(a.counts(), b.counts());
  }
}

TEST(F2oboSingleLoop, ItsOwnStepSizeFallsWithTheMultiplier) {
  const F2oboSingleLoopOptions o;  // Theorem 2: τ in (0, 1/2) and γ_t ∝ t^−τ
  EXPECT_GT(o.tau, 0.0);
  EXPECT_LT(o.tau, 0.5);
  EXPECT_EQ(o.gamma.power, -o.tau);
}

// ---- The pair (y, z) -----------------------------------------------------------------------------------------------

// While λ stands still, keeping w = λ(y − z) is keeping y: both forms are one iteration in exact arithmetic.
TEST(F2obo, DualIsSeparateWhileTheMultiplierStandsStill) {
  for (const auto& [name, problem] : quadratic_streams()) {
    SCOPED_TRACE(name);
    for (const BetaRule rule : {BetaRule::alpha_over_lambda, BetaRule::theory}) {
      Quadratic<double> p(problem, 8), q(problem, 8);
      F2oboOptions separate = options(WarmStart::separate, rule), dual = options(WarmStart::dual, rule);
      separate.tau = dual.tau = 0.0;
      const Dims dims = p.dims();
      OpenSession<F2obo, Quadratic<double>> a(F2obo(separate, ConvexSet::all()), p, first_x(dims), first_y(dims));
      OpenSession<F2obo, Quadratic<double>> b(F2obo(dual, ConvexSet::all()), q, first_x(dims), first_y(dims));
      Real y(dims.y), z(dims.y), other(dims.y);
      for (Round t = 1; t <= compared_rounds; ++t) {
        p.reveal(t);
        q.reveal(t);
        a.step(Rng(1));
        b.step(Rng(1));
        a.read_y(y);
        b.read_y(other);
        expect_near<double>(y, other, tolerance<double>(t), "y");
        a.read_z(z);
        b.read_z(other);
        expect_near<double>(z, other, tolerance<double>(t), "z");
        expect_near<double>(a.x(), b.x(), tolerance<double>(t), "x");
      }
    }
  }
}

TEST(F2obo, DualKeepsItsMemoryWhenTheMultiplierGrowsAndSeparateDoesNot) {
  Quadratic<double> p(small_quadratic(Drift::slow, 0.0), 8), q(small_quadratic(Drift::slow, 0.0), 8);
  const Dims dims = p.dims();
  OpenSession<F2obo, Quadratic<double>> a(F2obo(options(WarmStart::separate), ConvexSet::all()), p, first_x(dims),
                                          first_y(dims));
  OpenSession<F2obo, Quadratic<double>> b(F2obo(options(WarmStart::dual), ConvexSet::all()), q, first_x(dims),
                                          first_y(dims));
  for (Round t = 1; t <= 2; ++t) {
    p.reveal(t);
    q.reveal(t);
    a.step(Rng(1));
    b.step(Rng(1));
  }
  EXPECT_GT((a.direction() - b.direction()).norm(), 1e-3);  // λ doubled: the difference is of the size of d itself
}

// With A's eigenvalues a and y* − c = r, exactly y − z = −(λA + w)⁻¹ w r. Each component of that has the log-slope
// −λa/(λa + w) in λ, hence so has the norm one between −1 and −1 + w/(λμ + w); w = μ = 1 and λ ≥ 32: within 0.031 of
// −1.
TEST(F2obo, YAndZStayOneOverLambdaApart) {
  std::vector<double> lambdas, gaps;
  for (double lambda = 32.0; lambda <= 4096.0; lambda *= 2.0) {
    Quadratic<double> p(small_quadratic(Drift::none, 0.0), 4);
    const Dims dims = p.dims();
    F2oboOptions o = options(WarmStart::separate);
    o.lambda1 = lambda;
    o.tau = 0.0;
    o.inner_steps = 300.0;  // (1 − αμ)^300 < 1e-29: converged
    OpenSession<F2obo, Quadratic<double>> session(F2obo(o, ConvexSet::all()), p, first_x(dims), first_y(dims));
    p.reveal(1);
    session.step(Rng(1));
    Real y(dims.y), z(dims.y);
    session.read_y(y);
    session.read_z(z);
    lambdas.push_back(lambda);
    gaps.push_back((y - z).norm());
  }
  const double slope = fitted_slope(lambdas, gaps);
  EXPECT_GE(slope, -1.0 - 1e-9);
  EXPECT_LE(slope, -1.0 + 0.031);
}

// ∇F(x) = f_x − g_xy v with g_yy v = f_y, densely.
Real true_hypergradient(Quadratic<double>& p, const Real& x) {
  const Dims dims = p.dims();
  Real y(dims.y), f_y(dims.y), f_x(dims.x), cross(dims.x);
  Matrix<double> A(dims.y, dims.y);
  p.inner_solution(x, y);
  for (Index i = 0; i < dims.y; ++i) p.inner_hvp_yy(x, y, Real::Unit(dims.y, i), A.col(i));
  p.outer_gradient_y(x, y, f_y);
  p.outer_gradient_x(x, y, f_x);
  p.inner_hvp_xy(x, y, Real(A.llt().solve(f_y)), cross);
  return f_x - cross;
}

// d = f_x + B'(A + w/λ)⁻¹ f_y at convergence, so d − ∇F = −(w/λ) B'(A + w/λ)⁻¹ A⁻¹ f_y: 1/λ times a vector that moves
// by a relative w/(λμ) ≤ 1/64 over the fit. Two such changes over the six octaves shift the slope by less than 0.02;
// the sine doubles f_yy at most. "tied" starts y at z in every round: (1 − αμ)^80 < 2e-8 of the way is left, 1/λ is
// 2e-4 at least.
TEST(F2obo, TheBiasOfTheHypergradientFallsLikeOneOverLambdaOnAStaticStream) {
  for (const double sine : {0.0, 0.7})
    for (const WarmStart warm_start : warm_starts) {
      Quadratic<double> p(small_quadratic(Drift::none, sine), 4);
      const Dims dims = p.dims();
      const Real x = Real::LinSpaced(dims.x, -0.4, 0.5);
      F2oboOptions o = options(warm_start);
      o.lambda1 = 4.0;
      o.tau = 1.0;
      o.inner_steps = 80.0;
      const ConvexSet point = ConvexSet::box(x, x);  // x stands still: only λ changes
      OpenSession<F2obo, Quadratic<double>> session(F2obo(o, point), p, x, first_y(dims));
      std::vector<double> lambdas, errors;
      for (Round t = 1; t <= 1024; ++t) {
        p.reveal(t);
        const Step step = session.step(Rng(1));
        if (t < 16 || (t & (t - 1)) != 0) continue;
        lambdas.push_back(step.lambda);
        errors.push_back((session.direction() - true_hypergradient(p, x)).norm());
      }
      ASSERT_EQ(lambdas.size(), 7u);
      EXPECT_NEAR(fitted_slope(lambdas, errors), -1.0, 0.04) << "sine " << sine << ", " << name_of(warm_start);
    }
}

// ---- Cost and failure ----------------------------------------------------------------------------------------------

TEST(F2obo, ARoundCostsTwoKGradientsOfGAndKOfFInYOneOfFAndTwoOfGInXAndNothingElse) {
  for (const WarmStart warm_start : warm_starts) {
    Quadratic<double> p(small_quadratic(Drift::slow, 0.0), 4);
    const Dims dims = p.dims();
    F2oboOptions o = options(warm_start);
    o.inner_steps = Schedule(2.0, 1.0);  // K_t = 2t
    OpenSession<F2obo, Quadratic<double>> session(F2obo(o, ConvexSet::all()), p, first_x(dims), first_y(dims));
    EXPECT_EQ(session.counts(), OracleCounts{});
    for (Round t = 1; t <= 6; ++t) {
      const OracleCounts before = session.counts();
      p.reveal(t);
      session.step(Rng(1));
      const std::int64_t K = 2 * t;
      OracleCounts expected = before;
      expected.g_y += 2 * K;
      expected.f_y += K;
      expected.f_x += 1;
      expected.g_x += 2;
      EXPECT_EQ(session.counts(), expected) << "round " << t << ", " << name_of(warm_start);
    }
    Real y(dims.y);
    const OracleCounts before = session.counts();
    session.read_y(y);
    EXPECT_EQ(session.counts(), before);
  }
}

TEST(F2obo, AStepThatBlowsUpSaysSoAndLeavesXWhereItWas) {
  Quadratic<double> p(small_quadratic(Drift::none, 0.0), 4);
  const Dims dims = p.dims();
  F2oboOptions o = options(WarmStart::separate);
  o.alpha = 1e200;
  OpenSession<F2obo, Quadratic<double>> session(F2obo(o, ConvexSet::all()), p, first_x(dims), first_y(dims));
  p.reveal(1);
  const Real x = session.x();
  EXPECT_EQ(session.step(Rng(1)).status, Status::non_finite_inner);
  EXPECT_EQ(session.x(), x);
}

TEST(F2obo, OptionsOutOfRangeAreRefusedByName) {
  for (const auto& [bad, name] :
       std::vector<std::pair<F2oboOptions, std::string>>{{{.alpha = 0.0}, "alpha"},
                                                         {{.gamma = -1.0}, "gamma"},
                                                         {{.lambda1 = 0.0}, "lambda1"},
                                                         {{.tau = -0.1}, "tau"},
                                                         {{.inner_steps = 0.0}, "inner_steps"}}) {
    try {
      F2obo optimiser(bad, ConvexSet::all());
      ADD_FAILURE() << name << " was accepted";
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("optimiser." + name), std::string::npos) << e.what();
    }
  }
}

}  // namespace
