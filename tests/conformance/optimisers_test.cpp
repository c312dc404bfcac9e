// What every registered optimiser passes without being asked (house.md §6), in each of its modes: every word of every
// option that takes words is a mode.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <map>
#include <tuple>

#include "obolus/any/erased.hpp"
#include "obolus/metrics/round_meter.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/bome.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/f2sa.hpp"
#include "obolus/optimisers/f3sa.hpp"
#include "obolus/optimisers/fixed.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/oagd.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/over_differences.hpp"
#include "obolus/optimisers/pbgd.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/zo_sogd.hpp"
#include "obolus/problems/quadratic.hpp"
#include "obolus/run/run.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/conformance/registered.hpp"
#include "tests/conformance/witnesses.hpp"

namespace {

using namespace obolus;
using namespace obolus::test;

// ---- What is registered --------------------------------------------------------------------------------------------

// Stable on the quadratics below (|A| = 4): α < 1/|A|, β_t is α/λ_t or about half of it, and λ_t γ_t does not grow, as
// Theorem 2 asks where there is one inner step a round.
const Keys stable{{"alpha", "0.2"},    {"gamma", "{ scale = 0.1, power = -0.3333 }"},
                  {"lambda1", "5.0"},  {"beta", "{ scale = 0.02, power = -0.3333 }"},
                  {"tau", "0.3333"},   {"L_g1", "4.5"},
                  {"delta", "1e-4"},   {"delta_y", "1e-3"},
                  {"delta_z", "1e-5"}, {"max_inner", "2000"}};

// What some need beside. ZO-SOGD: d2 |A| α/b < 2. PBGD steps y along f_y + λ g_y: y_step λ|A| < 2. BOME's ŷ must be nearer than
// y, or its bias of (1 − α μ_g)^K stays.
const std::map<std::string, Keys> own{{"zo_sogd", {{"directions", "8"}}},
                                      {"pbgd", {{"y_step", "{ scale = 0.02, power = -0.3333 }"}, {"lambda1", "20.0"}}},
                                      {"bome", {{"inner_steps", "20"}}}};

struct Mode {
  std::string optimiser;
  Keys words;
  friend void PrintTo(const Mode& mode, std::ostream* out) {
    *out << mode.optimiser;
    for (const auto& [key, value] : mode.words) *out << ", " << key << " = " << value;
  }
  [[nodiscard]] bool has(const std::string& word) const {
    for (const auto& [key, value] : words)
      if (value == quoted(word)) return true;
    return false;
  }
  // Outer steps in logarithms want positive numbers.
  [[nodiscard]] bool positive() const { return has("entropy") || has("log_adam"); }
  // A control: it misses by design what is asked of methods that learn x (fixed_test.cpp says what it does).
  [[nodiscard]] bool leaves_x() const { return optimiser == "fixed"; }
  [[nodiscard]] Vector<double> start() const {
    return positive() ? Vector<double>::LinSpaced(4, 0.4, 0.1) : Vector<double>::LinSpaced(4, 0.9, -0.7);
  }
  [[nodiscard]] ConvexSet usual_set() const { return positive() ? ConvexSet::box(0.05, 0.5) : ConvexSet::l2_ball(0.5); }
  [[nodiscard]] ConvexSet widest_set() const { return positive() ? ConvexSet::nonnegative() : ConvexSet::all(); }
};

std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const Listing& l : list_optimisers()) {
    all.push_back({l.name, {}});
    for (const OptionListing& option : l.options)
      for (const std::string& word : words_of(option)) all.push_back({l.name, {{option.name, quoted(word)}}});
    if (known_to(l, {{"order", ""}}).empty()) continue;
    for (const char* order : {"2", "3", "4", "5"}) all.push_back({l.name, {{"order", order}}});
    for (const auto& [key, word] : Keys{{"warm_start", "tied"},
                                        {"warm_start", "dual"},
                                        {"inner_solver", "nesterov"},
                                        {"inner_solver", "backtracking"},
                                        {"lambda_rule", "balance"}})
      all.push_back({l.name, {{"order", "2"}, {key, quoted(word)}}});
  }
  return all;
}

Keys all_keys(const Mode& mode) {
  Keys keys = known_to(listing_of(list_optimisers(), mode.optimiser), stable);
  if (const auto more = own.find(mode.optimiser); more != own.end())
    for (const auto& [key, value] : more->second) {
      std::erase_if(keys, [&](const auto& k) { return k.first == key; });
      keys.emplace_back(key, value);
    }
  keys.insert(keys.end(), mode.words.begin(), mode.words.end());
  return keys;
}

std::unique_ptr<registry::PreparedOptimiser> prepare(const Mode& mode) {
  return prepare_optimiser(mode.optimiser, all_keys(mode));
}

QuadraticOptions noisy_quadratic() {
  QuadraticOptions o;
  o.dim_x = 4, o.dim_y = 6;
  o.condition = 4.0, o.ridge = 1.0, o.sine = 0.3;
  o.drift = Drift::abrupt, o.period = 7;
  o.noise = 0.2, o.noise_cross = 0.1;
  return o;
}

const Vector<double> y0 = Vector<double>::LinSpaced(6, -0.5, 0.8);

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
    session.read_y(y), append(shown, y);
    session.read_z(y), append(shown, y);
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
        : problem(std::in_place, options, 3), session(prepare(mode)->open(problem, set, mode.start(), y0)) {}
    std::vector<double> play(std::uint64_t seed, Round first, Round last) {
      return ::play(problem, *session, Rng(seed), first, last);
    }
  };
};

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

// What is given is what a method without noise would draw, to the last bit, and nobody is asked for it.
TEST_P(EveryOptimiser, WhatIsGivenIsTakenAsItIs) {
  if (!GetParam().has("given")) GTEST_SKIP() << "draws, or has no samples";
  QuadraticOptions silent = noisy_quadratic();
  silent.noise = silent.noise_cross = 0.0;
  const Mode drawing{GetParam().optimiser, {{"samples", quoted("round")}}};
  EXPECT_TRUE(same_bits(Table(GetParam()).play(1, 1, 40), Table(drawing, silent).play(1, 1, 40)));
  EXPECT_FALSE(prepare(GetParam())->draws());
  Erased<Sealed> sealed(std::in_place, noisy_quadratic(), 3);
  const auto session = prepare(GetParam())->open(sealed, GetParam().usual_set(), GetParam().start(), y0);
  play(sealed, *session, Rng(1), 1, 5);
  EXPECT_EQ(session->counts().samples, 0);
}

// ---- One algorithm, two paths --------------------------------------------------------------------------------------

struct StaticPath {
  std::string_view name;
  std::unique_ptr<AnySession<double>> (*on_quadratic)(const Mode&, Quadratic<double>&, const ConvexSet&);
  std::unique_ptr<AnySession<double>> (*on_first_order_only)(const Mode&, FirstOrderOnly&);
};

template <class Optimiser>
typename Optimiser::Options read_options(const Keys& keys) {
  const toml::table root = section_table("optimiser", keys);
  config::SectionReader reader(root, "optimiser");
  typename Optimiser::Options options;
  options.describe(reader);
  return options;
}

template <class Optimiser>
StaticPath path() {
  return {
      Optimiser::info.name,
      [](const Mode& mode, Quadratic<double>& p, const ConvexSet& set) -> std::unique_ptr<AnySession<double>> {
        return std::make_unique<Session<Optimiser, Quadratic<double>>>(
            Optimiser(read_options<Optimiser>(all_keys(mode)), set), p, mode.start(), y0);
      },
      []([[maybe_unused]] const Mode& mode, [[maybe_unused]] FirstOrderOnly& p) -> std::unique_ptr<AnySession<double>> {
        if constexpr (Optimiser::info.needs_hvp) {
          return nullptr;
        } else {
          using Least = std::conditional_t<Optimiser::info.stochastic, FirstOrderAndSamples, FirstOrderOnly>;
          const Vector<double> one = Vector<double>::Ones(1);
          return std::make_unique<Session<Optimiser, Least>>(
              Optimiser(read_options<Optimiser>(all_keys(mode)), mode.widest_set()), static_cast<Least&>(p), one, one);
        }
      }};
}

// clang-format off: one line an algorithm
const StaticPath static_paths[] = {
    path<F2obo>(),
    path<F2oboSingleLoop>(),
    path<Af2obo>(),
    path<Sf2obo>(),
    path<Oagd>(),
    path<Sobow>(),
    path<Obbo>(),
    path<Sobbo>(),
    path<Fsobo>(),
    path<Aobo>(),
    path<Sogd>(),
    path<ZoSogd>(),
    path<FsoboDifferences>(),
    path<AoboDifferences>(),
    path<F2sa>(),
    path<F3sa>(),
    path<Bome>(),
    path<Pbgd>(),
    path<Fixed>(),
};
// clang-format on

const StaticPath* static_path(const std::string& name) {
  for (const StaticPath& p : static_paths)
    if (p.name == name) return &p;
  return nullptr;
}

TEST(Registry, EveryOptimiserHasItsStaticTypeInThisTest) {
  for (const std::string& name : names(list_optimisers()))
    EXPECT_NE(static_path(name), nullptr) << name << ": add it to `static_paths`";
}

TEST_P(EveryOptimiser, TheStaticAndTheErasedPathGiveTheSameBits) {
  const StaticPath* path = static_path(GetParam().optimiser);
  ASSERT_NE(path, nullptr);
  Quadratic<double> problem(noisy_quadratic(), 3);
  const auto session = path->on_quadratic(GetParam(), problem, GetParam().usual_set());
  EXPECT_TRUE(same_bits(play(problem, *session, Rng(1), 1, 40), Table(GetParam()).play(1, 1, 40)));
}

// f = ½y², g = ½(y − x/2)²: F = x²/8 is least at 0, and one that needs no Hessian-vector product gets there without.
// The slowest way is a single step from y = z, whose direction is α∇F = x/20: e^(−Σγ_t/20) = e^(−15/20) = 0.47 is left.
TEST_P(EveryOptimiser, FourGradientsAreEnoughUnlessItSaysOtherwise) {
  if (registry::optimiser(GetParam().optimiser).info.needs_hvp) GTEST_SKIP() << "needs Hessian-vector products";
  if (GetParam().leaves_x()) GTEST_SKIP() << "leaves x where it is";
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

TEST_P(EveryOptimiser, StepsAllocateNothing) {
  if (!AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Quadratic<double> problem(noisy_quadratic(), 3);
  const ConvexSet& set = GetParam().positive() ? ConvexSet::nonnegative() : ConvexSet::l1_ball(0.5);
  const auto fixed = static_path(GetParam().optimiser)->on_quadratic(GetParam(), problem, ConvexSet::simplex());
  Table erased(GetParam(), noisy_quadratic(), set);
  const Rng rng(1);
  for (Round t = 1; t <= 20; ++t) {
    problem.reveal(t), erased.problem.reveal(t);
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
  const auto session = prepare(GetParam())->open(problem, GetParam().usual_set(), GetParam().start(), y0);
  EXPECT_EQ(session->counts(), OracleCounts{});
  for (Round t = 1; t <= 15; ++t) {
    problem.reveal(t);
    session->step(Rng(1));
    ASSERT_EQ(session->counts(), problem.problem().made()) << "round " << t;
  }
  EXPECT_GT(session->counts().grad_g() + session->counts().values, 0);
  if (!registry::optimiser(GetParam().optimiser).info.needs_hvp) {
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
// F is 1-strongly convex, so that the start is forgotten by e^(−Σγ_t) < 1e-13. "tied" with K steps, hypergradients through K steps and short
// Neumann series have a K-step estimate of ∇F for their d, by design, and the outer steps that are not Euclidean take steps that do not fall
// with the gradient: these only have to make way. Without its part through y the gradient would miss |B||f_y|/|A| > 0.06 and never fall
// below 4e-3.
TEST_P(EveryOptimiser, AStillStreamIsSolved) {
  if (GetParam().leaves_x()) GTEST_SKIP() << "leaves x where it is";
  const Mode& mode = GetParam();
  const bool adaptive = !known_to(listing_of(list_optimisers(), mode.optimiser), {{"delta_y", ""}}).empty();
  const bool unrolled = mode.optimiser == "obbo" || mode.optimiser == "sobbo";
  const bool makes_way =
      (mode.has("tied") && !adaptive) || unrolled || mode.has("neumann") || mode.has("diagonal") || mode.positive();
  QuadraticOptions still = noisy_quadratic();
  still.drift = Drift::none, still.noise = still.noise_cross = still.sine = 0.0;
  still.coupling = still.weight = 0.5;
  Table table(GetParam(), still, GetParam().widest_set());
  RoundMeter<AnyOracle<double>> meter(table.problem, GetParam().widest_set(), 0.05);
  double first = 0.0, last = 0.0;
  const RunEnd end = run<AnyOracle<double>>(table.problem, *table.session, meter, Rng(1), 1, 3000, 0.0,
                                            [&](const Row& row, const auto&) {
                                              if (row.t == 1) first = row.regret_increment;
                                              last = row.regret_increment;
                                              return true;
                                            });
  EXPECT_EQ(end.status, RunStatus::finished);
  EXPECT_GT(first, 0.1);
  EXPECT_LT(last, makes_way ? 0.5 * first : 1e-5);
}

// ---- Saving and failing --------------------------------------------------------------------------------------------

TEST_P(EveryOptimiser, ASnapshotAtAnyRoundResumesWithTheSameBits) {
  const Round last = 24;
  Table whole(GetParam());
  const std::vector<double> expected = whole.play(1, 1, last);
  EXPECT_TRUE(rc::check("cut after a round and go on", [&] {
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
                                                                    {Kind::hvp, &OracleCounts::hvp},
                                                                    {Kind::cross, &OracleCounts::cross},
                                                                    {Kind::value, &OracleCounts::values}}) {
      Erased<Poisoned> problem(std::in_place, noisy_quadratic(), 3, kind, 5, poison);
      const auto session = prepare(GetParam())->open(problem, GetParam().usual_set(), GetParam().start(), y0);
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

INSTANTIATE_TEST_SUITE_P(Registered, EveryOptimiser, testing::ValuesIn(modes()), [](const auto& tested) {
  std::string name = tested.param.optimiser;
  for (const auto& [key, value] : tested.param.words) name += "_" + key + "_" + value;
  std::erase_if(name, [](char c) { return c == '"'; });
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
