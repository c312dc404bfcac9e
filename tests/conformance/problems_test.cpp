// What every registered problem passes in each of its modes, because it is registered.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "obolus/check/primitives.hpp"
#include "obolus/run/experiment.hpp"
#include "tests/conformance/problem_modes.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

using Mode = ProblemMode;
using Oracle = std::shared_ptr<AnyOracle<double>>;

// Numbers in order, from the config's seed; the same for every problem. Where they are x they are made positive: some
// problems weigh a penalty with them, and have no inner solution where a weight is negative.
Vector<double> point(Index size, std::uint64_t which) {
  Rng rng = Rng(which).child("point");
  Vector<double> v(size);
  rng.fill_normal(v);
  return 0.5 * v;
}
Vector<double> outer_point(Index size, std::uint64_t which) { return point(size, which).cwiseAbs(); }
const std::string positive_box =
    "[metrics]\nregret = false\n[domain]\nset = \"box\"\nlower = 0.1\nupper = 3.0\n[start]\nx = 1.0\n";

// Everything the current round says at one place.
std::vector<double> answers(AnyOracle<double>& p) {
  const Dims dims = p.dims();
  const Vector<double> x = outer_point(dims.x, 1), y = point(dims.y, 2), v = point(dims.y, 3);
  Vector<double> of_x(dims.x), of_y(dims.y);
  std::vector<double> said{p.outer_value(x, y), p.inner_value(x, y)};
  p.outer_gradient_x(x, y, of_x);
  append(said, of_x);
  p.inner_gradient_x(x, y, of_x);
  append(said, of_x);
  p.outer_gradient_y(x, y, of_y);
  append(said, of_y);
  p.inner_gradient_y(x, y, of_y);
  append(said, of_y);
  const Capabilities can = p.capabilities();
  if (can.hvp) {
    p.inner_hvp_yy(x, y, v, of_y);
    append(said, of_y);
    p.inner_hvp_xy(x, y, v, of_x);
    append(said, of_x);
  }
  if (can.closed_form) {
    p.inner_solution(x, of_y);
    append(said, of_y);
  }
  return said;
}

class EveryProblem : public testing::TestWithParam<Mode> {
 protected:
  [[nodiscard]] static Oracle make(std::uint64_t seed = 7) {
    return prepare_problem(GetParam().problem, GetParam().keys)->make<double>(seed);
  }
  // Few rows are quick, and the tolerances of the checker count numbers, not rows.
  [[nodiscard]] static Keys small() {
    Keys keys = GetParam().keys;
    const Keys few = known_to(listing_of(list_problems(), GetParam().problem),
                              {{"batch", "6"}, {"replay", "6"}, {"documents", "12"}, {"features", "5"}});
    keys.insert(keys.end(), few.begin(), few.end());
    return keys;
  }
  [[nodiscard]] static std::string config(const std::string& more) {
    std::string text = "[problem]\nname = " + quoted(GetParam().problem) + "\nrounds = 30\n";
    for (const auto& [key, value] : small()) text.append(key).append(" = ").append(value).append("\n");
    return text + more;
  }
  [[nodiscard]] static bool biased(const std::string& what) {
    return what.starts_with("the mean of sampled f_y") && GetParam().fits_a_scale();
  }
};

// Suites for some of the modes; the end of the problems' tests enrols them.
class EverySampledProblem : public EveryProblem {};
class EveryProblemWithContractingSteps : public EveryProblem {};
class EveryProblemWithConstants : public EveryProblem {};
class EveryProblemInClosedForm : public EveryProblem {};

// ---- The stream ----------------------------------------------------------------------------------------------------

TEST_P(EveryProblem, RoundsRevealedInAnyOrderReplayBitForBit) {
  const Round last = 12;
  std::vector<std::vector<double>> expected;
  const Oracle in_order = make();
  for (Round t = 1; t <= last; ++t) {
    in_order->reveal(t);
    expected.push_back(answers(*in_order));
  }
  EXPECT_TRUE(rc::check("any order", [&] {
    const auto order = *rc::gen::container<std::vector<Round>>(rc::gen::inRange<Round>(1, last + 1));
    const Oracle p = make();
    for (const Round t : order) {
      p->reveal(t);
      RC_ASSERT(same_bits(answers(*p), expected[to_size(t - 1)]));
    }
  }));
}

TEST_P(EveryProblem, TheFirstRoundStandsBeforeAnyReveal) {
  const Oracle untouched = make(), revealed = make();
  revealed->reveal(1);
  EXPECT_TRUE(same_bits(answers(*untouched), answers(*revealed)));
}

TEST_P(EverySampledProblem, ARevealEndsTheSamplesAndTheDrawsDependOnTheirStreamOnly) {
  const Oracle p = make();
  p->reveal(2);
  const std::vector<double> expected = answers(*p);
  Rng first(5), second(5);
  p->resample({3, 4}, first);
  const std::vector<double> sampled = answers(*p);
  p->expectation();
  EXPECT_TRUE(same_bits(answers(*p), expected));
  p->resample({3, 4}, second);
  EXPECT_TRUE(same_bits(answers(*p), sampled));
  EXPECT_EQ(first, second);
  p->reveal(2);
  EXPECT_TRUE(same_bits(answers(*p), expected));
}

// Metrics ask between rounds of an optimiser, which must not notice.
TEST_P(EveryProblem, EvaluatingGivesTheSameFiniteNumbersAndChangesNothing) {
  const Oracle p = make();
  const Dims dims = p->dims();
  const Vector<double> x = outer_point(dims.x, 1), y = point(dims.y, 2);
  std::vector<std::string> expected;
  for (const Round t : {1, 2, 5}) {
    p->reveal(t);
    const std::vector<double> before = answers(*p);
    Evaluation first, second;
    p->evaluate(x, y, first);
    p->judge(x, y, first);
    p->evaluate(x, y, second);
    p->judge(x, y, second);
    EXPECT_TRUE(same_bits(answers(*p), before));
    EXPECT_EQ(first, second);
    std::vector<std::string> names;
    for (const auto& [name, value] : first) {
      names.push_back(name);
      EXPECT_TRUE(std::isfinite(value)) << name;
    }
    if (t == 1) expected = names;
    EXPECT_EQ(names, expected);
  }
}

// ---- The public checkers -------------------------------------------------------------------------------------------

TEST_P(EveryProblem, GradientsProductsAndTheHypergradientPassTheChecker) {
  for (const char* precision : {"double", "float"}) {
    // A float's differences step over the kinks of a network; tests/kernels compares its floats with the definition.
    if (std::string(precision) == "float" && !GetParam().can.convex) continue;
    const std::string text = "precision = " + quoted(precision) + "\n[optimiser]\nname = \"f2obo\"\n" + positive_box;
    const Experiment experiment(config(text), "test", "");
    const auto lines = experiment.check();
    EXPECT_FALSE(lines.empty());
    for (const auto& line : lines)
      EXPECT_TRUE(line.ok || biased(line.what)) << precision << ": " << line.what << " at " << line.where << ": error "
                                                << line.error << ", tolerance " << line.tolerance;
  }
}

template <class S>
void primitives_pass(AnyOracle<S>& p) {
  const CheckOptions where{.points = 1, .x = Vector<double>::Ones(p.dims().x), .domain = ConvexSet::box(0.1, 3.0)};
  const CheckReport report = check_primitives(p, where);
  EXPECT_FALSE(report.findings.empty());
  for (const Finding& f : report.findings)
    EXPECT_TRUE(f.ok) << f.what << " at " << f.where << ": error " << f.error << ", tolerance " << f.tolerance;
}
// Steps that suit g need not contract for an f that fits a scale: softmax_l2_test tests its primitives.
TEST_P(EveryProblemWithContractingSteps, ItsOwnPrimitivesPassTheChecker) {
  const auto prepared = prepare_problem(GetParam().problem, GetParam().keys);
  primitives_pass(*prepared->make<double>(7));
  primitives_pass(*prepared->make<float>(7));
}

// ---- What a problem says of itself ---------------------------------------------------------------------------------

// Secants of the gradients between random points lie between the constants; 1e-9 for the rounding of differences.
TEST_P(EveryProblemWithConstants, HoldsThemOnSecants) {
  const ConvexSet& box = constants_box();
  const Oracle p = make();
  const auto k = p->constants(box);
  EXPECT_GT(k->mu_g, 0.0);
  EXPECT_GE(k->L_g1, k->mu_g);
  EXPECT_GE(k->L_F(), 0.0);
  const Dims dims = p->dims();
  for (Round t = 1; t <= 6; ++t) {
    p->reveal(t);
    for (std::uint64_t i = 0; i < 40; ++i) {
      Vector<double> x = point(dims.x, 10 * i), u = point(dims.x, 10 * i + 1);
      const Vector<double> y = point(dims.y, 10 * i + 2), v = point(dims.y, 10 * i + 3);
      box.project(x);
      box.project(u);
      Vector<double> a(dims.y), b(dims.y), ax(dims.x), bx(dims.x);
      p->inner_gradient_y(x, y, a);
      p->inner_gradient_y(x, v, b);
      EXPECT_GE((a - b).dot(y - v), (k->mu_g - 1e-9) * (y - v).squaredNorm());
      p->inner_gradient_y(u, v, b);
      p->inner_gradient_x(x, y, ax);
      p->inner_gradient_x(u, v, bx);
      const double apart = std::sqrt((x - u).squaredNorm() + (y - v).squaredNorm());
      EXPECT_LE(std::sqrt((a - b).squaredNorm() + (ax - bx).squaredNorm()), (k->L_g1 + 1e-9) * apart);
      p->outer_gradient_y(x, y, a);
      p->outer_gradient_y(u, v, b);
      p->outer_gradient_x(x, y, ax);
      p->outer_gradient_x(u, v, bx);
      EXPECT_LE(std::sqrt((a - b).squaredNorm() + (ax - bx).squaredNorm()), (k->L_f1 + 1e-9) * apart);
      if (!p->capabilities().closed_form) continue;
      p->inner_solution(x, a);
      EXPECT_LE(std::abs(p->outer_value(x, a)), k->M + 1e-9);
    }
  }
}

// A supremum is at least what any sample shows, and asking for it leaves the current round alone.
TEST_P(EveryProblemInClosedForm, ItsVariationIsNoLessThanSamplesOfIt) {
  const ConvexSet& box = constants_box();
  const Oracle p = make();
  const Dims dims = p->dims();
  for (Round t = 2; t <= 8; ++t) {
    p->reveal(t);
    const std::vector<double> before = answers(*p);
    const Variation known = p->variation(t, box);
    EXPECT_TRUE(same_bits(answers(*p), before));
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Vector<double> x = point(dims.x, 20 * i).cwiseMax(-1.0).cwiseMin(1.0), y = point(dims.y, 20 * i + 1);
      const auto at = [&](Round round) {
        p->reveal(round);
        std::array<Vector<double>, 6> now;
        auto& [solution, f_y, g_y, f_x, g_yy, g_xy] = now;
        for (Vector<double>* v : {&solution, &f_y, &g_y, &g_yy}) v->resize(dims.y);
        for (Vector<double>* v : {&f_x, &g_xy}) v->resize(dims.x);
        p->inner_solution(x, solution);
        p->outer_gradient_y(x, y, f_y);
        p->inner_gradient_y(x, y, g_y);
        p->outer_gradient_x(x, y, f_x);
        p->inner_hvp_yy(x, y, y.normalized(), g_yy);
        p->inner_hvp_xy(x, y, y.normalized(), g_xy);
        return std::pair{p->outer_value(x, solution), now};
      };
      const auto [F0, before_t] = at(t - 1);
      const auto [F1, at_t] = at(t);
      const auto at_most = [t](double seen, const std::optional<double>& supremum, const char* what) {
        const double limit = supremum.value_or(std::numeric_limits<double>::infinity());
        EXPECT_LE(seen, limit * (1 + 1e-9) + 1e-12) << what << ", round " << t;  // rounding of both
      };
      at_most(std::abs(F1 - F0), known.value, "V_T");
      const auto moved = [&](std::size_t k) { return (at_t[k] - before_t[k]).squaredNorm(); };
      at_most(moved(0), known.solution, "H_2T");
      at_most(moved(1), known.outer_gradient, "E^f_y");
      at_most(moved(2), known.inner_gradient, "E^g_y");
      at_most(moved(3), known.outer_gradient_x, "E^f_x");
      at_most(moved(4), known.inner_hessian, "E^g_yy");
      at_most(moved(5), known.inner_cross, "E^g_xy");
    }
  }
}

TEST_P(EveryProblem, FloatIsDoubleRounded) {
  const auto prepared = prepare_problem(GetParam().problem, GetParam().keys);
  const Oracle exact = prepared->make<double>(7);
  const auto rounded = prepared->make<float>(7);
  const Dims dims = exact->dims();
  EXPECT_EQ(rounded->dims(), dims);
  const Vector<double> x = outer_point(dims.x, 1), y = point(dims.y, 2);
  Vector<double> g(dims.y);
  Vector<float> h(dims.y);
  for (Round t = 1; t <= 5; ++t) {
    exact->reveal(t);
    rounded->reveal(t);
    exact->inner_gradient_y(x, y, g);
    rounded->inner_gradient_y(x.cast<float>(), y.cast<float>(), h);
    // d1 + d2 + 2 ≤ 20 rounded terms of together |g| and at most 20 more
    EXPECT_LE((g - h.cast<double>()).norm(), 20 * 6e-8 * (g.norm() + 20.0)) << "round " << t;
  }
}

constexpr auto name_of_test = [](const testing::TestParamInfo<Mode>& tested) {
  return tested.param.problem + "_" + std::to_string(tested.index);
};
const auto enrol = [](auto applies) { return testing::ValuesIn(problem_modes_where(applies)); };

INSTANTIATE_TEST_SUITE_P(Registered, EveryProblem, enrol([](const Mode&) { return true; }), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EverySampledProblem, enrol([](const Mode& mode) { return mode.can.stochastic; }),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryProblemWithContractingSteps,
                         enrol([](const Mode& mode) { return !mode.fits_a_scale(); }), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryProblemWithConstants,
                         enrol([](const Mode& mode) { return mode.knows_constants; }), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryProblemInClosedForm,
                         enrol([](const Mode& mode) { return mode.can.closed_form; }), name_of_test);

// ---- Threads -------------------------------------------------------------------------------------------------------

// 300 rows are five chunks, two threads share them.
TEST(Threads, OneAndTwoGiveTheSameBits) {
  const Experiment experiment(R"(
[problem]
name = "quadratic"
dim_x = 40
dim_y = 300
rounds = 12
noise = 0.1
[optimiser]
name = "sf2obo"
[metrics]
variation = false
)",
                              "test", "");
  const auto rows_with = [&](int threads) {
    std::vector<double> rows;
    RunControl control;
    control.threads = threads;
    control.on_row = [&](const Row& r) {
      rows.insert(rows.end(), {r.f, r.g, r.regret, r.own_mapping, r.hypergradient_error, r.residual_y, r.residual_z});
      return true;
    };
    EXPECT_EQ(experiment.run(control).end.status, RunStatus::finished);
    return rows;
  };
  const std::vector<double> one = rows_with(1);
  EXPECT_EQ(one.size(), 7u * 12u);
  EXPECT_TRUE(same_bits(rows_with(2), one));
  EXPECT_TRUE(same_bits(rows_with(3), one));
}

}  // namespace
