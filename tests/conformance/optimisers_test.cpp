// What every registered optimiser passes in each of its modes, because it is registered.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <utility>

#include "obolus/any/erased.hpp"
#include "obolus/metrics/round_meter.hpp"
#include "obolus/run/run.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/conformance/optimiser_modes.hpp"
#include "tests/conformance/static_paths.hpp"
#include "tests/conformance/witnesses.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;
using Mode = OptimiserMode;

// Rounds first … last; all that a session shows after each of them.
template <class Problem>
std::vector<double> play(Problem& problem, AnySession<double>& session, const Rng& rng, Round first, Round last) {
  std::vector<double> shown;
  Vector<double> y(problem.dims().y);
  for (Round t = first; t <= last; ++t) {
    problem.reveal(t);
    const Step step = session.step(rng);
    EXPECT_EQ(step.status, Status::ok) << "round " << t;
    append(shown, session.x());
    append(shown, session.direction());
    session.read_y(y);
    append(shown, y);
    session.read_z(y);
    append(shown, y);
    shown.insert(shown.end(), {step.lambda, step.gamma, double(step.inner_iterations), double(session.counts().g_y)});
  }
  return shown;
}

class EveryOptimiser : public testing::TestWithParam<Mode> {
 protected:
  // A fresh problem and a fresh session on it.
  struct Table {
    Erased<Quadratic<double>> problem;
    std::unique_ptr<AnySession<double>> session;
    explicit Table(const Mode& mode, const QuadraticOptions& options = noisy_quadratic())
        : Table(mode, options, mode.usual_set()) {}
    Table(const Mode& mode, const QuadraticOptions& options, const ConvexSet& set)
        : problem(std::in_place, options, 3), session(prepare(mode)->open(problem, set, mode.start(), start_y)) {}
    std::vector<double> play(std::uint64_t seed, Round first, Round last) {
      return ::play(problem, *session, Rng(seed), first, last);
    }
  };
};

// Suites for some of the modes; the end of this file enrols them.
class EveryOptimiserWithCountedAllocations : public EveryOptimiser {};
class EveryOptimiserOnGivenSamples : public EveryOptimiser {};
class EveryLearner : public EveryOptimiser {};            // moves x
class EveryFirstOrderOptimiser : public EveryLearner {};  // needs no Hessian-vector product

// ---- Randomness ----------------------------------------------------------------------------------------------------

TEST_P(EveryOptimiser, TheSameSeedGivesTheSameBits) {
  EXPECT_TRUE(same_bits(Table(GetParam()).play(1, 1, 40), Table(GetParam()).play(1, 1, 40)));
}

// ZO-SOGD draws its directions, whatever its samples.
TEST_P(EveryOptimiser, AnotherSeedMattersExactlyWhereSamplesAreDrawn) {
  const bool random = prepare(GetParam())->draws() || GetParam().optimiser == "zo_sogd";
  EXPECT_EQ(same_bits(Table(GetParam()).play(1, 1, 10), Table(GetParam()).play(2, 1, 10)), !random);
}

// Refuses to be drawn from.
class Sealed : public CallCounting {
 public:
  using CallCounting::CallCounting;
  void resample(SampleSizes, Rng&) { ADD_FAILURE() << "resample"; }
  void expectation() { ADD_FAILURE() << "expectation"; }
};

// Given samples are what the method would draw without noise, to the last bit, and it draws none.
TEST_P(EveryOptimiserOnGivenSamples, TakesThemAsTheyAre) {
  QuadraticOptions silent = noisy_quadratic();
  silent.noise = silent.noise_cross = 0.0;
  const Mode drawing{GetParam().optimiser, {{"samples", quoted("round")}}};
  EXPECT_TRUE(same_bits(Table(GetParam()).play(1, 1, 40), Table(drawing, silent).play(1, 1, 40)));
  EXPECT_FALSE(prepare(GetParam())->draws());
  Erased<Sealed> sealed(std::in_place, noisy_quadratic(), 3);
  const auto session = prepare(GetParam())->open(sealed, GetParam().usual_set(), GetParam().start(), start_y);
  play(sealed, *session, Rng(1), 1, 5);
  EXPECT_EQ(session->counts().samples, 0);
}

// ---- One algorithm, two paths --------------------------------------------------------------------------------------

TEST(Registry, EveryOptimiserHasItsStaticPath) {
  for (const std::string& name : names(list_optimisers()))
    EXPECT_NE(static_path(name), nullptr) << name << ": add it to static_paths.cpp";
}

TEST_P(EveryOptimiser, TheStaticAndTheErasedPathGiveTheSameBits) {
  const StaticPath* path = static_path(GetParam().optimiser);
  ASSERT_NE(path, nullptr);
  Quadratic<double> problem(noisy_quadratic(), 3);
  const auto session = path->on_quadratic(GetParam(), problem, GetParam().usual_set());
  EXPECT_TRUE(same_bits(play(problem, *session, Rng(1), 1, 40), Table(GetParam()).play(1, 1, 40)));
}

// f = ½y², g = ½(y − x/2)²: F = x²/8 is smallest at 0, and an optimiser that needs no Hessian-vector product gets there
// without. The slowest way is a single step from y = z, whose direction is α∇F = x/20: e^(−Σγ_t/20) = e^(−15/20) = 0.47
// is left.
TEST_P(EveryFirstOrderOptimiser, NeedsFourGradientsOnly) {
  const StaticPath* path = static_path(GetParam().optimiser);
  ASSERT_NE(path, nullptr);
  FirstOrderAndSamples problem;
  const auto session = path->on_first_order_only(GetParam(), problem);
  for (Round t = 1; t <= 1000; ++t) {
    problem.reveal(t);
    ASSERT_EQ(session->step(Rng(1)).status, Status::ok);
  }
  EXPECT_LT(std::abs(session->x()[0]), 0.5);  // of 1 at the start
}

// ---- Cost ----------------------------------------------------------------------------------------------------------

TEST_P(EveryOptimiserWithCountedAllocations, AllocatesNothingInItsSteps) {
  Quadratic<double> problem(noisy_quadratic(), 3);
  const ConvexSet& set = GetParam().positive() ? ConvexSet::nonnegative() : ConvexSet::l1_ball(0.5);
  const auto fixed = static_path(GetParam().optimiser)->on_quadratic(GetParam(), problem, ConvexSet::simplex());
  Table erased(GetParam(), noisy_quadratic(), set);
  const Rng rng(1);
  for (Round t = 1; t <= 20; ++t) {
    problem.reveal(t);
    erased.problem.reveal(t);
    const AllocationCounter counter;
    fixed->step(rng);
    const std::uint64_t in_static_path = counter.count();
    erased.session->step(rng);
    const std::uint64_t in_erased_path = counter.count() - in_static_path;
    ASSERT_EQ(in_static_path, 0u) << "round " << t;
    ASSERT_EQ(in_erased_path, 0u) << "round " << t;
  }
}

TEST_P(EveryOptimiser, TheCountersShowTheCallsThatWereMade) {
  Erased<CallCounting> problem(std::in_place, noisy_quadratic(), 3);
  const auto session = prepare(GetParam())->open(problem, GetParam().usual_set(), GetParam().start(), start_y);
  EXPECT_EQ(session->counts(), OracleCounts{});
  for (Round t = 1; t <= 15; ++t) {
    problem.reveal(t);
    session->step(Rng(1));
    ASSERT_EQ(session->counts(), problem.problem().made()) << "round " << t;
  }
  EXPECT_GT(session->counts().grad_g() + session->counts().values, 0);
  if (!GetParam().needs_hvp()) {
    EXPECT_EQ(session->counts().hvp_yy, 0);
    EXPECT_EQ(session->counts().hvp_xy, 0);
  }
}

// ---- Where it goes -------------------------------------------------------------------------------------------------

// A projection leaves rounding only: n ε times the radius (1 at most), n = 4.
TEST_P(EveryOptimiser, XIsAlwaysFeasible) {
  for (const std::string& name : names(list_sets())) {
    const ConvexSet set = make_set(name, 4);
    if (GetParam().positive() && name != "simplex" && name != "nonnegative") {
      EXPECT_THROW(Table(GetParam(), noisy_quadratic(), set), ConfigError)
          << name << " is not made of positive numbers";
      continue;
    }
    Table table(GetParam(), noisy_quadratic(), set);
    EXPECT_TRUE(set.contains(table.session->x(), 1e-15)) << name << ": the start";
    for (Round t = 1; t <= 30; ++t) {
      table.play(1, t, t);
      EXPECT_TRUE(set.contains(table.session->x(), 1e-15)) << name << ": after round " << t;
    }
  }
}

// On a still stream without noise d tends to ∇F. At T = 3000 λ is 72, and with |B| = w = |y* − c| = 1/2 and μ = 1 the
// penalty's bias is |B| w |f_y|/(λμ²) < 2e-3; AF²OBO's tolerances add |B|(δ_y + λδ_z)/μ < 1e-3. Together squared: 9e-6.
// F is 1-strongly convex, so that the start is forgotten by e^(−Σγ_t) < 1e-13. "tied" with K steps, hypergradients
// through K steps and short Neumann series estimate ∇F from K steps, by design, and outer steps that are not Euclidean
// do not shrink with the gradient: these only have to make progress. Without its part through y the gradient would miss
// |B||f_y|/|A| > 0.06 and never fall below 4e-3.
TEST_P(EveryLearner, SolvesAStillStream) {
  const Mode& mode = GetParam();
  const bool adaptive = !known_to(listing_of(list_optimisers(), mode.optimiser), {{"delta_y", ""}}).empty();
  const bool unrolled = mode.optimiser == "obbo" || mode.optimiser == "sobbo";
  const bool only_progresses =
      (mode.has("tied") && !adaptive) || unrolled || mode.has("neumann") || mode.has("diagonal") || mode.positive();
  QuadraticOptions still = noisy_quadratic();
  still.drift = Drift::none;
  still.noise = still.noise_cross = still.sine = 0.0;
  still.coupling = still.weight = 0.5;
  Table table(GetParam(), still, GetParam().unbounded_set());
  RoundMeter<AnyOracle<double>> meter(table.problem, GetParam().unbounded_set(), 0.05);
  double first = 0.0, last = 0.0;
  const RunEnd end = run<AnyOracle<double>>(table.problem, *table.session, meter, Rng(1), 1, 3000, 0.0,
                                            [&](const Row& row, const auto&) {
                                              if (row.t == 1) first = row.regret_increment;
                                              last = row.regret_increment;
                                              return true;
                                            });
  EXPECT_EQ(end.status, RunStatus::finished);
  EXPECT_GT(first, 0.1);
  EXPECT_LT(last, only_progresses ? 0.5 * first : 1e-5);
}

// ---- Saving and failing --------------------------------------------------------------------------------------------

TEST_P(EveryOptimiser, ASnapshotAtAnyRoundResumesWithTheSameBits) {
  const Round last = 24;
  Table whole(GetParam());
  const std::vector<double> expected = whole.play(1, 1, last);
  EXPECT_TRUE(rc::check("cut after a round and resume", [&] {
    const Round cut = *rc::gen::inRange<Round>(0, last + 1);
    Table before(GetParam()), after(GetParam());
    std::vector<double> shown = before.play(1, 1, cut);
    Archive saved;
    saved("session", *before.session);
    after.play(5, 1, 3);  // whatever was there must be replaced
    Archive loaded(saved.bytes());
    loaded("session", *after.session);
    loaded.finish();
    const std::vector<double> rest = after.play(1, cut + 1, last);
    shown.insert(shown.end(), rest.begin(), rest.end());
    RC_ASSERT(same_bits(shown, expected));
    RC_ASSERT(after.session->counts() == whole.session->counts());
  }));
}

TEST_P(EveryOptimiser, ANanFromAnyOracleEndsTheRoundWithAStatusAndLeavesXAlone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double poison : {nan, std::numeric_limits<double>::infinity()})
    for (const auto& [kind, used] :
         std::vector<std::pair<Kind, std::int64_t OracleCounts::*>>{{Kind::f_x, &OracleCounts::f_x},
                                                                    {Kind::f_y, &OracleCounts::f_y},
                                                                    {Kind::g_x, &OracleCounts::g_x},
                                                                    {Kind::g_y, &OracleCounts::g_y},
                                                                    {Kind::hvp, &OracleCounts::hvp_yy},
                                                                    {Kind::cross, &OracleCounts::hvp_xy},
                                                                    {Kind::value, &OracleCounts::values}}) {
      Erased<Poisoned> problem(std::in_place, noisy_quadratic(), 3, kind, 5, poison);
      const auto session = prepare(GetParam())->open(problem, GetParam().usual_set(), GetParam().start(), start_y);
      play(problem, *session, Rng(1), 1, 4);
      if (session->counts().*used == 0) continue;  // never asks for it
      const Vector<double> x = session->x();
      problem.reveal(5);
      Status status = Status::ok;
      EXPECT_NO_THROW(status = session->step(Rng(1)).status);
      EXPECT_NE(status, Status::ok) << poison << " in oracle " << static_cast<int>(kind);
      EXPECT_EQ(session->x(), x);
    }
}

// ---- Who is enrolled -----------------------------------------------------------------------------------------------

constexpr auto name_of_test = [](const testing::TestParamInfo<Mode>& tested) { return test_name(tested.param); };
const auto enrol = [](auto applies) { return testing::ValuesIn(optimiser_modes_where(applies)); };

INSTANTIATE_TEST_SUITE_P(Registered, EveryOptimiser, testing::ValuesIn(optimiser_modes()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryOptimiserWithCountedAllocations,
                         enrol([](const Mode&) { return AllocationCounter::supported(); }), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryOptimiserOnGivenSamples,
                         enrol([](const Mode& mode) { return mode.has("given"); }), name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryLearner, enrol([](const Mode& mode) { return !mode.leaves_x(); }),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(Registered, EveryFirstOrderOptimiser,
                         enrol([](const Mode& mode) { return !mode.needs_hvp() && !mode.leaves_x(); }), name_of_test);

}  // namespace
