#include "obolus/optimisers/sf2obo.hpp"

#include <gtest/gtest.h>

#include "obolus/optimisers/f2obo.hpp"
#include "tests/optimisers/trajectory.hpp"

template struct obolus::test::Sessions<obolus::Sf2obo>;

namespace {

using namespace obolus;
using namespace obolus::test;

constexpr WarmStart warm_starts[] = {WarmStart::separate, WarmStart::tied, WarmStart::dual};
constexpr Samples samplings[] = {Samples::round, Samples::fresh};

Sf2oboOptions options(WarmStart warm_start, BetaRule beta_rule, Samples samples) {
  auto o = family_options<Sf2oboOptions>(warm_start, beta_rule);
  o.inner_steps = 3.0;
  o.samples = samples;
  o.batch = Schedule(2.0, 2.0 / 3.0);
  o.outer_batch = Schedule(5.0, 1.0 / 3.0);
  return o;
}

constexpr auto algorithm3 = [](auto& reference, const Rng& rng) {
  reference.algorithm3(rng);
  return true;
};

// ---- Against the reference -----------------------------------------------------------------------------------------

template <class P>
void compare_with_reference(const std::string& stream, const typename P::Options& problem) {
  P ours(problem, 11), theirs(problem, 11);
  for (const Samples samples : samplings)
    in_every_way(ours.dims().x, [&](const std::string& way, const SlowSet& set, WarmStart warm_start, BetaRule rule) {
      SCOPED_TRACE(stream + ", " + way + ", " + std::string(name_of(samples)));
      expect_reference_trajectory<Sf2obo>(ours, theirs, options(warm_start, rule, samples), set, algorithm3,
                                          [](const Step& step, auto&) { EXPECT_EQ(step.inner_iterations, 3); });
    });
}

template <class S>
void compare_on_noisy_streams() {
  for (auto [name, problem] : quadratic_streams())
    for (const double cross : {0.0, 0.1}) {
      problem.noise = 0.3;
      problem.noise_cross = cross;
      compare_with_reference<Quadratic<S>>(name + (cross > 0 ? ", noise in B" : ""), problem);
    }
  for (auto [name, problem] : oscillation_streams()) {
    problem.noise = 0.3;
    compare_with_reference<Oscillation<S>>(name, problem);
  }
}

TEST(Sf2obo, FollowsTheSlowReferenceInDouble) { compare_on_noisy_streams<double>(); }
TEST(Sf2obo, FollowsTheSlowReferenceInFloat) { compare_on_noisy_streams<float>(); }

TEST(Sf2obo, FollowsTheSlowReferenceWithThePapersLogarithmOfInnerSteps) {
  QuadraticOptions problem = small_quadratic(Drift::slow, 0.0);
  problem.noise = 0.3;
  problem.noise_cross = 0.1;
  Quadratic<double> ours(problem, 5), theirs(problem, 5);
  Sf2oboOptions o = options(WarmStart::separate, BetaRule::alpha_over_lambda, Samples::fresh);
  o.inner_steps = Schedule(1.5, 0.0);
  o.inner_steps.log = true;  // K_t = ⌈1.5 ln t⌉, at least 1
  const std::int64_t expected[] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4};
  EXPECT_TRUE(expect_reference_trajectory<Sf2obo>(
      ours, theirs, o, slow_sets(4)[3], algorithm3,
      [&](const Step& step, auto& reference) { EXPECT_EQ(step.inner_iterations, expected[reference.t - 1]); }));
}

// ---- Noise ---------------------------------------------------------------------------------------------------------

TEST(Sf2obo, IsF2oboBitForBitWithoutNoise) {
  for (const auto& [name, problem] : quadratic_streams())
    for (const WarmStart warm_start : warm_starts)
      for (const Samples samples : samplings) {
        Quadratic<double> p(problem, 3), q(problem, 3);
        const Dims dims = p.dims();
        const ConvexSet set = ConvexSet::l2_ball(0.4);
        F2oboOptions plain = family_options<F2oboOptions>(warm_start, BetaRule::alpha_over_lambda);
        plain.inner_steps = 3.0;
        const Sf2oboOptions sampled = options(warm_start, BetaRule::alpha_over_lambda, samples);
        OpenSession<F2obo, Quadratic<double>> a(F2obo(plain, set), p, first_x(dims), first_y(dims));
        OpenSession<Sf2obo, Quadratic<double>> b(Sf2obo(sampled, set), q, first_x(dims), first_y(dims));
        Real ya(dims.y), yb(dims.y);
        for (Round t = 1; t <= 20; ++t) {
          p.reveal(t);
          q.reveal(t);
          a.step(Rng(1));
          b.step(Rng(2));
          a.read_y(ya);
          b.read_y(yb);
          ASSERT_EQ(a.x(), b.x()) << name << ", round " << t;
          ASSERT_EQ(ya, yb) << name << ", round " << t;
        }
        OracleCounts asked = b.counts();
        EXPECT_GT(asked.samples, 0);
        asked.samples = 0;  // F²OBO draws none
        EXPECT_EQ(a.counts(), asked);
      }
}

TEST(Sf2obo, IsF2oboBitForBitOnWhatIsGiven) {
  for (auto [name, problem] : quadratic_streams())
    for (const WarmStart warm_start : warm_starts) {
      problem.noise = 0.5;
      problem.noise_cross = 0.2;
      Quadratic<double> p(problem, 3), q(problem, 3);
      const Dims dims = p.dims();
      const ConvexSet set = ConvexSet::l2_ball(0.4);
      F2oboOptions plain = family_options<F2oboOptions>(warm_start, BetaRule::alpha_over_lambda);
      plain.inner_steps = 3.0;
      const Sf2oboOptions given = options(warm_start, BetaRule::alpha_over_lambda, Samples::given);
      OpenSession<F2obo, Quadratic<double>> a(F2obo(plain, set), p, first_x(dims), first_y(dims));
      OpenSession<Sf2obo, Quadratic<double>> b(Sf2obo(given, set), q, first_x(dims), first_y(dims));
      Real ya(dims.y), yb(dims.y);
      for (Round t = 1; t <= 20; ++t) {
        p.reveal(t);
        q.reveal(t);
        a.step(Rng(1));
        b.step(Rng(2));
        a.read_y(ya);
        b.read_y(yb);
        ASSERT_EQ(a.x(), b.x()) << name << ", round " << t;
        ASSERT_EQ(ya, yb) << name << ", round " << t;
      }
      EXPECT_EQ(a.counts(), b.counts());
    }
}

TEST(Sf2obo, LeavesTheProblemWithItsExpectedFunctions) {
  for (const Samples samples : samplings) {
    QuadraticOptions problem = small_quadratic(Drift::none, 0.0);
    problem.noise = 1.0;
    Quadratic<double> p(problem, 3);
    const Dims dims = p.dims();
    const Real x = first_x(dims), y = first_y(dims);
    const double expected = p.outer_value(x, y);
    const Sf2oboOptions o = options(WarmStart::separate, BetaRule::alpha_over_lambda, samples);
    OpenSession<Sf2obo, Quadratic<double>> session(Sf2obo(o, ConvexSet::all()), p, x, y);
    p.reveal(1);
    session.step(Rng(1));
    EXPECT_EQ(p.outer_value(x, y), expected);
  }
}

// ---- Which samples stand behind which gradient ---------------------------------------------------------------------

// g = ½(y − x)², f = ½y², both in one dimension; writes down every call with the number of the draw behind it.
class Witness {
 public:
  using Scalar = double;
  struct Call {
    std::string kind;
    double y;  // where asked
    int draw;  // how many draws had been made in this round; 0: expected functions
  };
  struct Draw {
    SampleSizes sizes;
    std::uint64_t number;  // the first number of the stream it was given
  };
  std::vector<Call> calls;
  std::vector<Draw> draws;

  [[nodiscard]] Dims dims() const { return {1, 1}; }
  void reveal(Round) {
    calls.clear();
    draws.clear();
    current_ = 0;
  }
  double outer_value(In<double>, In<double> y) { return 0.5 * y[0] * y[0]; }
  double inner_value(In<double> x, In<double> y) { return 0.5 * (y[0] - x[0]) * (y[0] - x[0]); }
  void outer_gradient_x(In<double>, In<double> y, Out<double> d) {
    note("f_x", y);
    d[0] = 0.0;
  }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) {
    note("f_y", y);
    d[0] = y[0];
  }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) {
    note("g_x", y);
    d[0] = x[0] - y[0];
  }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) {
    note("g_y", y);
    d[0] = y[0] - x[0];
  }
  void resample(SampleSizes sizes, Rng& rng) {
    draws.push_back({sizes, rng.bits()});
    current_ = static_cast<int>(draws.size());
  }
  void expectation() { current_ = 0; }

  [[nodiscard]] std::vector<double> points(const std::string& kind, int draw) const {
    std::vector<double> found;
    for (const Call& call : calls)
      if (call.kind == kind && call.draw == draw) found.push_back(call.y);
    return found;
  }

 private:
  void note(const char* kind, In<double> y) { calls.push_back({kind, y[0], current_}); }
  int current_ = 0;
};
static_assert(StochasticOracle<Witness> && !HvpOracle<Witness> && !DifferenceOracle<Witness>);

class Sf2oboSamples : public testing::TestWithParam<WarmStart> {
 protected:
  // A few rounds, so that y and z are apart and the batches of the schedules differ.
  void run(Samples samples) {
    const Sf2oboOptions o = options(GetParam(), BetaRule::alpha_over_lambda, samples);
    Session<Sf2obo, Witness> session(Sf2obo(o, ConvexSet::all()), witness, Real::Constant(1, 0.6),
                                     Real::Constant(1, -0.4));
    for (t = 1; t <= 5; ++t) {
      witness.reveal(t);
      ASSERT_EQ(session.step(rng).status, Status::ok);
      check(samples == Samples::fresh);
    }
  }

  void check(bool fresh) {
    SCOPED_TRACE("round " + std::to_string(t));
    const auto batch = static_cast<std::int64_t>(std::ceil(2.0 * std::pow(double(t), 2.0 / 3.0)));
    const auto outer = static_cast<std::int64_t>(std::ceil(5.0 * std::pow(double(t), 1.0 / 3.0)));
    // One draw for each of the three inner iterations and one for the outer step, or one for all.
    ASSERT_EQ(witness.draws.size(), fresh ? 4u : 1u);
    Rng expected = rng.child("samples", static_cast<std::uint64_t>(t));
    for (std::size_t i = 0; i < witness.draws.size(); ++i) {
      const Witness::Draw& draw = witness.draws[i];
      EXPECT_EQ(draw.number, expected.bits());  // in the order of the algorithm, from the round's own stream
      const std::int64_t size = i == 3 ? outer : batch;
      EXPECT_EQ(draw.sizes.outer, size);
      EXPECT_EQ(draw.sizes.inner, size);
    }
    for (const Witness::Call& call : witness.calls) EXPECT_GT(call.draw, 0) << call.kind << " without samples";
    const int iterations_a_draw = fresh ? 1 : 3;
    for (int draw = 1; draw <= (fresh ? 3 : 1); ++draw) {
      const auto f_y = witness.points("f_y", draw), g_y = witness.points("g_y", draw);
      ASSERT_EQ(f_y.size(), to_size(iterations_a_draw));
      ASSERT_EQ(g_y.size(), static_cast<std::size_t>(2 * iterations_a_draw));
      for (const double y : f_y) EXPECT_NE(std::count(g_y.begin(), g_y.end(), y), 0) << "y has another ζ";
    }
    const int last = fresh ? 4 : 1;
    const auto f_x = witness.points("f_x", last), g_x = witness.points("g_x", last);
    ASSERT_EQ(f_x.size(), 1u);
    ASSERT_EQ(g_x.size(), 2u);  // at y and at z, on one ζ
    EXPECT_TRUE(g_x[0] == f_x[0] || g_x[1] == f_x[0]);
    EXPECT_NE(g_x[0], g_x[1]);
  }

  Witness witness;
  Rng rng{9};
  Round t = 0;
};

TEST_P(Sf2oboSamples, FreshDrawsServeYAndZTogetherInEveryIterationAndInTheOuterStep) { run(Samples::fresh); }
TEST_P(Sf2oboSamples, TheRoundsBatchServesEveryStepOfTheRound) { run(Samples::round); }

INSTANTIATE_TEST_SUITE_P(EveryWarmStart, Sf2oboSamples, testing::ValuesIn(warm_starts),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// Without the shared ζ the noise of g would reach d multiplied by λ. Additive noise cancels between y and z altogether:
// what is left of σ = 1 in d is f's ξ and, through y, a term that does not grow with λ.
TEST(Sf2obo, TheNoiseInTheDirectionDoesNotGrowWithLambda) {
  const auto deviation = [](double lambda) {
    QuadraticOptions problem = small_quadratic(Drift::none, 0.0);
    problem.noise = 1.0;
    Quadratic<double> p(problem, 3), exact(small_quadratic(Drift::none, 0.0), 3);
    const Dims dims = p.dims();
    Sf2oboOptions o = options(WarmStart::separate, BetaRule::alpha_over_lambda, Samples::round);
    o.lambda1 = lambda;
    o.tau = 0.0;
    o.batch = 1.0;
    o.inner_steps = 60.0;
    const ConvexSet still = ConvexSet::box(0.0, 0.0);
    OpenSession<Sf2obo, Quadratic<double>> noisy(Sf2obo(o, still), p, first_x(dims), first_y(dims));
    OpenSession<Sf2obo, Quadratic<double>> plain(Sf2obo(o, still), exact, first_x(dims), first_y(dims));
    double sum = 0.0;
    for (Round t = 1; t <= 200; ++t) {
      p.reveal(t);
      exact.reveal(t);
      noisy.step(Rng(4));
      plain.step(Rng(4));
      sum += (noisy.direction() - plain.direction()).squaredNorm();
    }
    return std::sqrt(sum / 200.0);
  };
  // The same draws in both: at convergence λ(y − z) = −(A + w/λ)⁻¹ f_y(z) has a limit, off by w/(λμ) ≤ 1% from λ = 100
  // on.
  EXPECT_NEAR(deviation(10'000.0) / deviation(100.0), 1.0, 0.02);
}

}  // namespace
