#include "obolus/optimisers/af2obo.hpp"

#include <gtest/gtest.h>

#include "tests/optimisers/trajectory.hpp"

template struct obolus::test::Sessions<obolus::Af2obo>;

namespace {

using namespace obolus;
using namespace obolus::test;

constexpr WarmStart warm_starts[] = {WarmStart::separate, WarmStart::tied, WarmStart::dual};
using Plain = Quadratic<double>;

Af2oboOptions options(WarmStart warm_start, BetaRule beta_rule = BetaRule::alpha_over_lambda) {
  auto o = family_options<Af2oboOptions>(warm_start, beta_rule);
  o.delta_y = 1e-2;
  o.delta_z = 1e-3;
  o.max_inner = 500;
  return o;
}

OpenSession<Af2obo, Plain> open(Plain& p, const Af2oboOptions& o, const ConvexSet& set = ConvexSet::all()) {
  return OpenSession<Af2obo, Plain>(Af2obo(o, set), p, first_x(p.dims()), first_y(p.dims()));
}

// ---- Against the reference -----------------------------------------------------------------------------------------

// A norm that meets its tolerance to within rounding decides nothing: both may be right with one step more or less. The
// gradients have errors of √12 u in z and λ_t times that in y (see `tolerance`): 1.7ε and 104ε, relative to δ at most
// 104ε/δ_y, ten times which is a tie.
template <class S>
constexpr auto algorithm2 = [](auto& reference, const Rng&) {
  reference.algorithm2();
  return reference.closest >
         1040.0 * static_cast<double>(std::numeric_limits<S>::epsilon()) / reference.parameters().delta_y;
};

constexpr auto same_report = [](const Step& step, auto& reference) {
  EXPECT_EQ(step.steps_z, reference.steps_z);
  EXPECT_EQ(step.steps_y, reference.steps_y);
  EXPECT_EQ(step.inner_iterations, reference.steps_z + reference.steps_y);
  EXPECT_EQ(step.capped, reference.capped);
};

template <class S>
void compare_with_reference() {
  int all = 0, to_the_end = 0;
  on_every_stream<S>([&]<class P>(const std::string& stream, const typename P::Options& problem) {
    P ours(problem, 11), theirs(problem, 11);
    in_every_way(ours.dims().x, [&](const std::string& way, const SlowSet& set, WarmStart warm_start, BetaRule rule) {
      SCOPED_TRACE(stream + ", " + way);
      Af2oboOptions o = options(warm_start, rule);
      if (std::is_same_v<S, float>) {
        o.delta_y = 0.1;
        o.delta_z = 0.02;
      }
      ++all;
      to_the_end += expect_reference_trajectory<Af2obo>(ours, theirs, o, set, algorithm2<S>, same_report) ? 1 : 0;
    });
  });
  EXPECT_GE(to_the_end, all * 3 / 4) << "of " << all;
}

TEST(Af2obo, FollowsTheSlowReferenceInDouble) { compare_with_reference<double>(); }
TEST(Af2obo, FollowsTheSlowReferenceInFloat) { compare_with_reference<float>(); }

TEST(Af2obo, FollowsTheSlowReferenceWhenItsLoopsAreCapped) {
  Plain ours(small_quadratic(Drift::abrupt, 0.0), 5), theirs(small_quadratic(Drift::abrupt, 0.0), 5);
  for (const WarmStart warm_start : warm_starts) {
    SCOPED_TRACE(name_of(warm_start));
    Af2oboOptions o = options(warm_start);
    o.max_inner = 4;
    int capped = 0;
    EXPECT_TRUE(expect_reference_trajectory<Af2obo>(ours, theirs, o, slow_sets(4)[2], algorithm2<double>,
                                                    [&](const Step& step, auto& reference) {
                                                      same_report(step, reference);
                                                      capped += step.capped ? 1 : 0;
                                                    }));
    EXPECT_GT(capped, 0);
  }
}

// ---- The loops -----------------------------------------------------------------------------------------------------

TEST(Af2obo, BothLoopsEndWithinTheirTolerancesAtTheRoundsOwnX) {
  for (const WarmStart warm_start : warm_starts) {
    Plain p(small_quadratic(Drift::oscillating, 0.7), 4);
    const Dims dims = p.dims();
    const Af2oboOptions o = options(warm_start);
    auto session = open(p, o);
    Real y(dims.y), z(dims.y), f(dims.y), g(dims.y);
    for (Round t = 1; t <= 30; ++t) {
      const Real x = session.x();
      p.reveal(t);
      const Step step = session.step(Rng(1));
      ASSERT_FALSE(step.capped);
      session.read_y(y);
      session.read_z(z);
      p.inner_gradient_y(x, z, g);
      EXPECT_LE(g.norm(), o.delta_z(t));
      p.outer_gradient_y(x, y, f);
      p.inner_gradient_y(x, y, g);
      // Under "dual" y is z + w/λ, rounded once more than in the loop: λ ε times the gradient's terms, below 1e-12.
      EXPECT_LE((f + step.lambda * g).norm(), o.delta_y(t) + 1e-12) << "round " << t << ", " << name_of(warm_start);
    }
  }
}

TEST(Af2obo, NoStepIsTakenWhereTheTolerancesHoldAlready) {
  for (const WarmStart warm_start : warm_starts) {
    Plain p(small_quadratic(Drift::none, 0.0), 4);
    Af2oboOptions o = options(warm_start);
    o.delta_y = o.delta_z = 1e9;
    auto session = open(p, o);
    p.reveal(1);
    const Step step = session.step(Rng(1));
    EXPECT_EQ(step.inner_iterations, 0);
    EXPECT_FALSE(step.capped);
    EXPECT_EQ(session.counts().g_y, 2);  // a loop of no steps costs one gradient, its test
    EXPECT_EQ(session.counts().f_y, 1);
  }
}

TEST(Af2obo, LoopsOfNStepsCostNPlusOneGradientsAlsoAtTheCap) {
  for (const std::int64_t cap : {std::int64_t{3}, std::int64_t{500}})
    for (const WarmStart warm_start : warm_starts) {
      Plain p(small_quadratic(Drift::slow, 0.0), 4);
      Af2oboOptions o = options(warm_start);
      o.max_inner = cap;
      auto session = open(p, o);
      for (Round t = 1; t <= 8; ++t) {
        OracleCounts expected = session.counts();
        p.reveal(t);
        const Step step = session.step(Rng(1));
        expected.g_y += (step.steps_z + 1) + (step.steps_y + 1);
        expected.f_y += step.steps_y + 1;
        expected.f_x += 1;
        expected.g_x += 2;
        EXPECT_EQ(session.counts(), expected) << "round " << t << ", cap " << cap << ", " << name_of(warm_start);
        EXPECT_TRUE(t > 1 || step.capped == (cap == 3));
      }
    }
}

TEST(Af2obo, TheCapHoldsForEachLoopAndIsReportedForEither) {
  const auto first_step = [](double delta_y, double delta_z) {
    Plain p(small_quadratic(Drift::none, 0.0), 4);
    Af2oboOptions o = options(WarmStart::separate);
    o.delta_y = delta_y;
    o.delta_z = delta_z;
    o.max_inner = 2;
    auto session = open(p, o);
    p.reveal(1);
    return session.step(Rng(1));
  };
  const Step z_only = first_step(1e9, 1e-6), y_only = first_step(1e-6, 1e9), both = first_step(1e-6, 1e-6);
  EXPECT_TRUE(z_only.capped);
  EXPECT_EQ(z_only.steps_z, 2);
  EXPECT_EQ(z_only.steps_y, 0);
  EXPECT_TRUE(y_only.capped);
  EXPECT_EQ(y_only.steps_y, 2);
  EXPECT_EQ(y_only.steps_z, 0);
  EXPECT_TRUE(both.capped);
  EXPECT_EQ(both.inner_iterations, 4);
}

TEST(Af2obo, ALoopThatEndsExactlyAtTheCapIsNotCapped) {
  Plain p(small_quadratic(Drift::none, 0.0), 4), q(small_quadratic(Drift::none, 0.0), 4);
  auto free = open(p, options(WarmStart::separate));
  p.reveal(1);
  const Step step = free.step(Rng(1));
  Af2oboOptions o = options(WarmStart::separate);
  o.max_inner = std::max(step.steps_y, step.steps_z);
  auto just = open(q, o);
  q.reveal(1);
  const Step at_cap = just.step(Rng(1));
  EXPECT_FALSE(at_cap.capped);
  EXPECT_EQ(at_cap.inner_iterations, step.inner_iterations);
}

TEST(Af2obo, ALoopThatDivergesEndsWithAStatus) {
  for (const WarmStart warm_start : warm_starts) {
    Plain p(small_quadratic(Drift::none, 0.0), 4);
    Af2oboOptions o = options(warm_start);
    o.alpha = 50.0;  // |1 − αL| = 199: overflows in some 140 steps
    o.max_inner = 10'000;
    auto session = open(p, o);
    p.reveal(1);
    const Real x = session.x();
    EXPECT_EQ(session.step(Rng(1)).status, Status::non_finite_inner) << name_of(warm_start);
    EXPECT_EQ(session.x(), x);
  }
}

// While λ stands still, keeping w is keeping y.
TEST(Af2obo, DualIsSeparateWhileTheMultiplierStandsStill) {
  for (const auto& [name, problem] : quadratic_streams()) {
    SCOPED_TRACE(name);
    Plain p(problem, 8), q(problem, 8);
    Af2oboOptions separate = options(WarmStart::separate), dual = options(WarmStart::dual);
    separate.tau = dual.tau = 0.0;
    auto a = open(p, separate), b = open(q, dual);
    Real y(6), other(6);
    for (Round t = 1; t <= compared_rounds; ++t) {
      p.reveal(t);
      q.reveal(t);
      const Step first = a.step(Rng(1)), second = b.step(Rng(1));
      ASSERT_EQ(first.steps_y, second.steps_y);
      ASSERT_EQ(first.steps_z, second.steps_z);
      a.read_y(y);
      b.read_y(other);
      expect_near<double>(y, other, tolerance<double>(t), "y");
      expect_near<double>(a.x(), b.x(), tolerance<double>(t), "x");
    }
  }
}

TEST(Af2obo, TolerancesAndCapsOutOfRangeAreRefusedByName) {
  for (const auto& [bad, name] : std::vector<std::pair<Af2oboOptions, std::string>>{
           {{.delta_y = 0.0}, "delta_y"}, {{.delta_z = -1.0}, "delta_z"}, {{.max_inner = 0}, "max_inner"}}) {
    try {
      Af2obo optimiser(bad, ConvexSet::all());
      ADD_FAILURE() << name << " was accepted";
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("optimiser." + name), std::string::npos) << e.what();
    }
  }
}

}  // namespace
