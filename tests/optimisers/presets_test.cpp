#include "obolus/optimisers/presets.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/optimisers/random_constants.hpp"

namespace {

using namespace obolus;

Constants small_problem() {  // κ_g = 2, L_F = 1 + 2·4/2 + 16/4 = 9
  Constants k;
  k.L_f0 = 1;
  k.L_f1 = 1;
  k.L_g1 = 4;
  k.L_g2 = 0;
  k.mu_g = 2;
  k.M = 1;
  return k;
}

template <class Options>
Options with(Preset preset, const Constants& k = small_problem(), Round T = 10) {
  Options o;
  apply_preset(preset, o, k, T);
  return o;
}

template <class Options>
std::string failures(const Options& o, const Constants& k, Round T) {
  std::string all;
  for (const Condition& c : theorem_conditions(o, k, T))
    if (!c.holds) all += c.name + ": " + c.detail + '\n';
  return all;
}

template <class Options>
std::string complaint(const Constants& k) {
  try {
    (void)with<Options>(Preset::theory, k);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no complaint";
}

template <class Options>
class EveryPreset : public testing::Test {};
using AllOptions = testing::Types<F2oboOptions, F2oboSingleLoopOptions, Af2oboOptions, Sf2oboOptions>;
TYPED_TEST_SUITE(EveryPreset, AllOptions);

TEST(Preset, HasTheNamesOfTheConfig) {
  EXPECT_EQ(name_of(Preset::standard), "default");
  EXPECT_EQ(name_of(Preset::paper), "paper");
  EXPECT_EQ(name_of(Preset::theory), "theory");
}

TYPED_TEST(EveryPreset, DefaultRestoresTheDefaults) {
  TypeParam o = with<TypeParam>(Preset::theory);
  apply_preset(Preset::standard, o, {}, 0);
  EXPECT_EQ(o.alpha, TypeParam{}.alpha);
  EXPECT_EQ(o.gamma, TypeParam{}.gamma);
  EXPECT_EQ(o.lambda1, TypeParam{}.lambda1);
  EXPECT_EQ(o.tau, TypeParam{}.tau);
  EXPECT_EQ(o.beta_rule, TypeParam{}.beta_rule);
  EXPECT_EQ(o.L_g1, TypeParam{}.L_g1);
}

TYPED_TEST(EveryPreset, PaperHasTheValuesOfItsAppendixAndNeedsNoConstants) {
  TypeParam o;
  o.beta = 7.0;
  o.L_g1 = 3.0;
  apply_preset(Preset::paper, o, {}, 0);
  EXPECT_EQ(o.alpha, Schedule(0.1));
  EXPECT_EQ(o.gamma, Schedule(0.001));
  EXPECT_EQ(o.lambda1, 5.0);
  EXPECT_EQ(o.tau, 1.0);
  EXPECT_EQ(o.beta_rule, BetaRule::alpha_over_lambda);
  EXPECT_EQ(o.warm_start, WarmStart::separate);
  if constexpr (requires { o.inner_steps; }) {
    EXPECT_EQ(o.inner_steps, Schedule(5.0));
  }
  if constexpr (requires { o.delta_y; }) {
    EXPECT_EQ(std::pair(o.delta_y, o.delta_z), std::pair(Schedule(0.5), Schedule(0.1)));
  }
  if constexpr (requires { o.samples; }) {
    EXPECT_EQ(o.samples, Samples::round);
    EXPECT_EQ(o.batch, Schedule(256.0));
  }
  EXPECT_EQ(o.beta, Schedule(7.0)) << "an option the paper does not speak of";
  EXPECT_EQ(o.L_g1, 3.0);
}

TYPED_TEST(EveryPreset, TheoryNamesEachMissingConstantAndTheOptionThatGivesIt) {
  const std::vector<std::pair<double Constants::*, std::string>> constants{
      {&Constants::L_f0, "L_f0"}, {&Constants::L_f1, "L_f1"}, {&Constants::M, "M"},
      {&Constants::L_g1, "L_g1"}, {&Constants::L_g2, "L_g2"}, {&Constants::mu_g, "mu_g"}};
  for (const auto& [member, name] : constants) {
    Constants k = small_problem();
    k.region = "X is unbounded";
    k.*member = name == "mu_g" ? 0.0 : Constants::none;
    const std::string text = complaint<TypeParam>(k);
    EXPECT_NE(text.find("got " + name + " = " + (name == "mu_g" ? "0" : "inf")), std::string::npos) << text;
    EXPECT_NE(text.find("set optimiser." + name + " = "), std::string::npos) << text;
    EXPECT_NE(text.find("X is unbounded"), std::string::npos) << text;
  }
}

TYPED_TEST(EveryPreset, TheoryNamesAllMissingConstantsAtOnce) {
  const std::string text = complaint<TypeParam>({});
  for (const char* name : {"L_f0", "L_f1", "M", "L_g1", "L_g2", "mu_g"})
    EXPECT_NE(text.find(std::string("optimiser.") + name + " = "), std::string::npos) << text;
}

TYPED_TEST(EveryPreset, TheoryRefusesAnLg1BelowMuAndANegativeConstant) {
  Constants k = small_problem();
  k.L_g1 = 1;
  EXPECT_NE(complaint<TypeParam>(k).find("got L_g1 = 1, expected"), std::string::npos) << complaint<TypeParam>(k);
  k = small_problem();
  k.L_f1 = -1;
  EXPECT_NE(complaint<TypeParam>(k).find("got L_f1 = -1"), std::string::npos) << complaint<TypeParam>(k);
}

TYPED_TEST(EveryPreset, TheoryRefusesAHorizonOfNoRounds) {
  TypeParam o;
  EXPECT_THROW(apply_preset(Preset::theory, o, small_problem(), 0), ConfigError);
}

TYPED_TEST(EveryPreset, TheoryKeepsTheFirstMultiplierATenthAboveItsLimitAndAtLeastOne) {
  Constants k = small_problem();
  EXPECT_DOUBLE_EQ(with<TypeParam>(Preset::theory, k).lambda1, 1.1);  // 1.1 · 2 · 1/2
  k.L_f1 = 30;
  EXPECT_DOUBLE_EQ(with<TypeParam>(Preset::theory, k).lambda1, 33.0);
  k.L_f1 = 0;
  EXPECT_EQ(with<TypeParam>(Preset::theory, k).lambda1, 1.0);
}

TYPED_TEST(EveryPreset, TheoryWorksForOneRound) {
  EXPECT_EQ(failures(with<TypeParam>(Preset::theory, small_problem(), 1), small_problem(), 1), "");
}

template <class Options>
void meets_its_theorem(Round max_rounds) {
  const Constants k = random_constants();
  const Round T = *rc::gen::inRange<Round>(1, max_rounds);
  const Options o = with<Options>(Preset::theory, k, T);
  validate(o, "optimiser");
  const std::string failed = failures(o, k, T);
  RC_LOG() << failed;
  RC_ASSERT(failed.empty());
}
RC_GTEST_PROP(TheoryPreset, MeetsEveryConditionOfTheoremOne, ()) { meets_its_theorem<F2oboOptions>(10'000'000); }
RC_GTEST_PROP(TheoryPreset, MeetsEveryConditionOfTheoremTwo, ()) { meets_its_theorem<F2oboSingleLoopOptions>(20'000); }
RC_GTEST_PROP(TheoryPreset, MeetsEveryConditionOfTheoremThree, ()) { meets_its_theorem<Af2oboOptions>(10'000'000); }
RC_GTEST_PROP(TheoryPreset, MeetsEveryConditionOfTheoremFour, ()) { meets_its_theorem<Sf2oboOptions>(5'000); }

TEST(TheoryPreset, OfF2oboByHand) {
  const auto o = with<F2oboOptions>(Preset::theory);
  EXPECT_EQ(o.tau, 1.0);
  EXPECT_EQ(o.alpha, Schedule(0.25));
  EXPECT_EQ(o.beta_rule, BetaRule::theory);
  EXPECT_EQ(o.L_g1, 4.0);
  // ρ = 7/8, λ_10 = 11: K = ⌈2 ln 11/ln(8/7)⌉ = ⌈4.79579/0.133531⌉ = ⌈35.915⌉.
  EXPECT_EQ(o.inner_steps, Schedule(36.0));
  // min{1/18, √((1/8)/(84·16))/32 = 0.000301374}
  EXPECT_NEAR(o.gamma.scale, std::sqrt(1.0 / 10752) / 32, 1e-17);
  EXPECT_TRUE(o.gamma.is_constant());
}

// With λ_1 = 550 the printed K ≥ −2 ln T/ln ρ = 34.5 leaves λ_T² ρ^K at 3·10⁵.
TEST(TheoryPreset, OfF2oboCountsTheFirstMultiplierInK) {
  Constants k = small_problem();
  k.L_f1 = 500;
  const auto o = with<F2oboOptions>(Preset::theory, k);
  EXPECT_DOUBLE_EQ(o.lambda1, 550.0);
  EXPECT_LE(std::pow(5500.0, 2) * std::pow(0.875, o.inner_steps.scale), 1.0);
  EXPECT_GT(std::pow(5500.0, 2) * std::pow(0.875, std::ceil(2 * std::log(10.0) / std::log(8.0 / 7))), 3e5 * 0.9);
}

TEST(TheoryPreset, OfF2oboStaysBelowTheSmoothnessLimitWhenThatIsTheSmaller) {
  Constants k = small_problem();
  k.L_f1 = 1e6;  // L_F = 9·10⁶
  EXPECT_DOUBLE_EQ(with<F2oboOptions>(Preset::theory, k).gamma.scale, 1 / 18e6);
}

TEST(TheoryPreset, OfTheSingleLoopByHand) {
  const auto o = with<F2oboSingleLoopOptions>(Preset::theory);
  EXPECT_DOUBLE_EQ(o.tau, 1.0 / 3);
  EXPECT_DOUBLE_EQ(o.gamma.power, -1.0 / 3);
  // ρ = 1 − 1/16, C_g = 224256: 0.99 √((1/16)/(3·224256))/(8·1.1)
  EXPECT_NEAR(o.gamma.scale, 0.99 * std::sqrt(1.0 / 16 / 672768) / 8.8, 1e-18);
  EXPECT_DOUBLE_EQ(o.gamma.max, 0.99 / 18);
  EXPECT_NEAR(o.gamma(8), o.gamma.scale / 2, 1e-18);
}

TEST(TheoryPreset, OfTheSingleLoopIsCappedBySmoothnessAtFirst) {
  Constants k = small_problem();
  k.L_f0 = 1e6;
  k.L_g2 = 1e3;
  const auto o = with<F2oboSingleLoopOptions>(Preset::theory, k, 1'000'000);
  EXPECT_EQ(o.gamma(1), o.gamma.max);
  EXPECT_EQ(failures(o, k, 100'000), "");
}

TEST(TheoryPreset, OfAf2oboByHand) {
  const auto o = with<Af2oboOptions>(Preset::theory, small_problem(), 100);
  EXPECT_EQ(o.tau, 0.5);
  EXPECT_DOUBLE_EQ(o.delta_y(1), 0.1);
  EXPECT_DOUBLE_EQ(o.delta_z(1), 0.01);  // T^(−(1+1)/2)
  EXPECT_DOUBLE_EQ(o.gamma.scale, 1.0 / 18);
  EXPECT_EQ(o.max_inner, 10'000);
}

TEST(TheoryPreset, OfAf2oboGivesIllConditionedLoopsMoreSteps) {
  Constants k = small_problem();
  k.mu_g = 0.04;  // κ_g = 100
  EXPECT_EQ(with<Af2oboOptions>(Preset::theory, k).max_inner, 40'000);
}

TEST(TheoryPreset, OfAf2oboTakesAUnitStepWhereFIsAffine) {
  Constants k = small_problem();
  k.L_f1 = 0;  // and L_g2 = 0: L_F = 0
  EXPECT_EQ(with<Af2oboOptions>(Preset::theory, k).gamma, Schedule(1.0));
}

TEST(TheoryPreset, OfSf2oboByHand) {
  const auto o = with<Sf2oboOptions>(Preset::theory);
  EXPECT_DOUBLE_EQ(o.tau, 1.0 / 6);
  EXPECT_EQ(o.samples, Samples::fresh);
  EXPECT_DOUBLE_EQ(o.alpha(7), 0.25);
  EXPECT_DOUBLE_EQ(beta_at(o, 64), 1 / (2 * 1.1 * 4 * 2));  // 64^(1/6) = 2
  EXPECT_EQ(o.inner_steps.count(1), 1);                     // 8 ln 1 = 0
  EXPECT_EQ(o.inner_steps.count(2), 6);                     // ⌈5.545⌉
  EXPECT_EQ(o.inner_steps.count(3), 9);                     // ⌈8.789⌉
  EXPECT_EQ(o.batch.count(1000), 100);
  EXPECT_EQ(o.outer_batch.count(1000), 100);
  // q = 7/8. ρ = 2 (7/8)⁶ = 0.897591; c_λ = 1.1² · 7/8 = 1.05875 at t = 1.
  EXPECT_NEAR(o.gamma.scale, std::sqrt((1 - 0.8975906) / (14 * 1.05875)) / (48 * 2 * 4), 1e-10);
}

// ---- The methods that the paper compares with ----------------------------------------------------------------------

template <class Options>
std::string refusal(Preset preset, const Constants& k = small_problem(), Round T = 10) {
  try {
    (void)with<Options>(preset, k, T);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no complaint";
}

// κ_g = 2: n(ε) = ⌈ln(1/ε)/(2 ln 2)⌉ is ⌈3.32⌉ for 1/100 and ⌈2.82⌉ for 1/50.
TEST(OrdersPreset, ByHand) {
  const auto sobow = with<SobowOptions>(Preset::orders, small_problem(), 100);
  EXPECT_EQ(sobow.system_steps.count(1), 1);
  EXPECT_EQ(sobow.system_steps.count(37), 37);
  EXPECT_EQ(with<ObboOptions>(Preset::orders, small_problem(), 100).inner_steps, Schedule(4.0));
  const auto aobo = with<AoboOptions>(Preset::orders, small_problem(), 100);
  EXPECT_DOUBLE_EQ(aobo.delta(1), 0.1);
  EXPECT_EQ(aobo.system_steps, Schedule(4.0));
  EXPECT_EQ(aobo.max_inner, 10'000);
  const auto sobbo = with<SobboOptions>(Preset::orders);
  EXPECT_EQ(sobbo.estimator, Estimator::neumann);
  EXPECT_EQ(sobbo.samples, Samples::fresh);
  EXPECT_EQ(sobbo.window, 50);
  EXPECT_EQ(sobbo.system_steps, 3);
  EXPECT_EQ(sobbo.L_g1, 4.0);
}

TEST(OrdersPreset, StepsOfYAreOneOverTheSmoothnessAndGammaIsLeftAlone) {
  const auto check = []<class Options>(Options) {
    const auto o = with<Options>(Preset::orders);
    EXPECT_EQ(o.alpha, Schedule(0.25));
    EXPECT_EQ(o.gamma, Options{}.gamma);
  };
  check(SobowOptions{});
  check(ObboOptions{});
  check(AoboOptions{});
  check(SobboOptions{});
}

// (1 − 1/κ_g)^(2n) ≤ ε < (1 − 1/κ_g)^(2(n−1)), in logarithms; one part in 10⁹ for rounding.
RC_GTEST_PROP(OrdersPreset, CountsAreTheFewestThatLeaveTheErrorAskedFor, ()) {
  const Constants k = random_constants();
  const Round T = *rc::gen::inRange<Round>(1, 1'000'000);
  const double n = theory::steps_to_leave(k, 1 / static_cast<double>(T));
  const double each = -2 * std::log1p(-1 / k.kappa()), asked = std::log(static_cast<double>(T));
  RC_ASSERT(n >= 1 && n == std::floor(n));
  RC_ASSERT(n * each >= asked * (1 - 1e-9));
  if (n > 1) RC_ASSERT((n - 1) * each <= asked * (1 + 1e-9));
}

TEST(OrdersPreset, NeedsTheSmoothnessAndTheConvexityOfGAndNothingElse) {
  Constants k;
  k.L_g1 = 4;
  EXPECT_NE(refusal<ObboOptions>(Preset::orders, k).find("got mu_g = 0"), std::string::npos);
  k.mu_g = 2;
  EXPECT_EQ(refusal<ObboOptions>(Preset::orders, k), "no complaint");
  EXPECT_NE(refusal<ObboOptions>(Preset::orders, k, 0).find("horizon"), std::string::npos);
}

TEST(BaselinePresets, PaperIsTheDefaultsWithTheGammaOfItsExperiments) {
  EXPECT_EQ(with<SogdOptions>(Preset::paper, {}, 0).gamma, Schedule(0.001));
  EXPECT_EQ(with<FsoboOptions>(Preset::paper, {}, 0).gamma, Schedule(0.001));
}

TEST(BaselinePresets, ARefusalNamesWhatThereIs) {
  EXPECT_EQ(refusal<SogdOptions>(Preset::theory),
            "optimiser.preset: got \"theory\", expected \"default\" or \"paper\": sogd has no other preset");
  EXPECT_EQ(refusal<FsoboOptions>(Preset::orders),
            "optimiser.preset: got \"orders\", expected \"default\" or \"paper\": fsobo has no other preset");
  EXPECT_EQ(
      refusal<AoboOptions>(Preset::theory),
      "optimiser.preset: got \"theory\", expected \"default\", \"paper\" or \"orders\": aobo has no other preset");
  EXPECT_EQ(refusal<OagdOptions>(Preset::paper),
            "optimiser.preset: got \"paper\", expected \"default\" or \"authors\": oagd has no other preset");
  EXPECT_NE(refusal<F2oboOptions>(Preset::orders).find("f2obo has no other preset"), std::string::npos);
}

TEST(AuthorsPreset, OfOagdHasTheValuesOfItsCode) {
  const auto o = with<OagdOptions>(Preset::authors, {}, 0);
  EXPECT_EQ(o.inner_on, InnerOn::window);
  EXPECT_EQ(o.normalise, Normalise::stored);
  EXPECT_EQ(std::pair(o.window, o.decay), std::pair(std::int64_t{5}, 0.9));
  EXPECT_EQ(std::pair(o.alpha, o.gamma), std::pair(Schedule(0.1), Schedule(0.001)));
  EXPECT_EQ(o.system_solver, ColdSolver::neumann);
  EXPECT_EQ(o.system_steps, Schedule(5.0));
  EXPECT_EQ(o.L_g1, 2.0);  // a step of 0.5
  OagdOptions changed = o;
  apply_preset(Preset::standard, changed, {}, 0);
  EXPECT_EQ(changed.inner_on, InnerOn::round);
  EXPECT_EQ(changed.normalise, Normalise::window);
}

// ---- Without a horizon ---------------------------------------------------------------------------------------------

const Constants mild{.L_f0 = 1, .L_f1 = 1, .L_g1 = 4, .L_g2 = 0.5, .mu_g = 1, .M = 2, .sigma = 0, .region = {}};

template <class Options>
Options anytime(Round T) {
  Options o;
  apply_preset(Preset::anytime, o, mild, T);
  return o;
}

TEST(Anytime, NoOptionDependsOnTheHorizon) {
  const auto same = []<class Options>(Options a, Options b) {
    std::vector<double> first, second;
    const auto collect = [](std::vector<double>& to) {
      return [&to]<class T>(std::string_view, T& value, std::string_view, Range = {}) {
        if constexpr (std::is_same_v<T, Schedule>) to.insert(to.end(), {value(1), value(7), value(1000)});
        else if constexpr (std::is_arithmetic_v<T>) to.push_back(static_cast<double>(value));
      };
    };
    a.describe(collect(first));
    b.describe(collect(second));
    EXPECT_EQ(first, second);
    EXPECT_GT(first.size(), 5u);
  };
  same(anytime<F2oboOptions>(10), anytime<F2oboOptions>(100'000));
  same(anytime<F2oboSingleLoopOptions>(10), anytime<F2oboSingleLoopOptions>(100'000));
  same(anytime<Af2oboOptions>(10), anytime<Af2oboOptions>(100'000));
  same(anytime<Sf2oboOptions>(10), anytime<Sf2oboOptions>(100'000));
}

// λ_t² ρ^(K_t) ≤ λ_1², and K_t contracts by itself: 2 ρ^K ≤ ρ.
TEST(Anytime, F2oboStepsKeepUpWithTheMultiplierInEveryRound) {
  const auto o = anytime<F2oboOptions>(1);
  const double rho = 1 - theory::double_loop_gaps(o, mild, 1).both();
  for (Round t = 1; t < 100'000; t = t * 3 + 1) {
    const double contraction = std::pow(rho, static_cast<double>(o.inner_steps.count(t)));
    EXPECT_LE(std::pow(lambda_at(o, t), 2) * contraction, o.lambda1 * o.lambda1 * (1 + 1e-9)) << t;
    EXPECT_LE(2 * contraction, rho * (1 + 1e-9)) << t;
  }
}

// The quotient in closed form against its definition.
TEST(Anytime, F2oboGammaIsSmallerByTheRootOfTheQuotientOfTheSums) {
  const auto o = anytime<F2oboOptions>(1);
  const double gap = theory::double_loop_gaps(o, mild, 1).both();
  double plain = 0, weighted = 0;
  for (int i = 0; i < 20'000; ++i) {
    plain += std::pow(1 - gap, i);
    weighted += std::pow(1 + i / 2.0, 2) * std::pow(1 - gap, i);
  }
  const double expected = theory::gamma_limit(mild, gap, o.lambda1 * o.lambda1) / std::sqrt(weighted / plain);
  EXPECT_NEAR(o.gamma(1) / std::min(expected, theory::smoothness_limit(mild)), 1.0, 1e-9);
}

TEST(Anytime, Af2oboTolerancesAreThoseOfTheTheoremWithTheRoundForTheHorizon) {
  const auto o = anytime<Af2oboOptions>(1);
  EXPECT_DOUBLE_EQ(o.tau, 0.5);
  EXPECT_DOUBLE_EQ(o.delta_y(100), 0.1);
  EXPECT_DOUBLE_EQ(o.delta_z(100), 0.01);
}

}  // namespace
