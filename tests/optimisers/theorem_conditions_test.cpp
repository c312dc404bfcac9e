#include "obolus/optimisers/theorem_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "obolus/optimisers/presets.hpp"

namespace {

using namespace obolus;

constexpr Round T = 100;

Constants small_problem() {  // κ_g = 2, L_F = 1 + 4 + 4 = 9
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
Options compliant() {
  Options o;
  apply_preset(Preset::theory, o, small_problem(), T);
  return o;
}

template <class Options>
std::vector<std::string> failures(const Options& o, const Constants& k = small_problem()) {
  std::vector<std::string> names;
  for (const Condition& c : theorem_conditions(o, k, T))
    if (!c.holds) names.push_back(c.name);
  return names;
}

template <class Options>
Condition find(const Options& o, const std::string& start) {
  for (Condition c : theorem_conditions(o, small_problem(), T))
    if (c.name.starts_with(start)) return c;
  ADD_FAILURE() << "no condition starts with " << start;
  return {};
}

using Names = std::vector<std::string>;

// What one change breaks, and nothing else.
template <class Options>
void expect_failures(const std::function<void(Options&)>& change, const Names& expected) {
  Options o = compliant<Options>();
  change(o);
  EXPECT_EQ(failures(o), expected);
}

template <class Options>
class EveryTheorem : public testing::Test {};
using AllOptions = testing::Types<F2oboOptions, F2oboSingleLoopOptions, Af2oboOptions, Sf2oboOptions>;
TYPED_TEST_SUITE(EveryTheorem, AllOptions);

TYPED_TEST(EveryTheorem, IsContentWithItsOwnPreset) { EXPECT_EQ(failures(compliant<TypeParam>()), Names{}); }

TYPED_TEST(EveryTheorem, NamesAMissingConstant) {
  const std::vector<std::pair<double Constants::*, std::string>> constants{
      {&Constants::L_f0, "L_f0 finite (Assumption 1)"},
      {&Constants::L_f1, "L_f1 finite (Assumption 1)"},
      {&Constants::M, "M finite (Assumption 1)"},
      {&Constants::L_g1, "L_g1 finite (Assumption 2)"},
      {&Constants::L_g2, "L_g2 finite (Assumption 2)"}};
  for (const auto& [member, name] : constants) {
    Constants k = small_problem();
    k.*member = Constants::none;
    const Names names = failures(compliant<TypeParam>(), k);
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TYPED_TEST(EveryTheorem, NamesAMissingStrongConvexity) {
  Constants k = small_problem();
  k.mu_g = 0;
  const Names names = failures(compliant<TypeParam>(), k);
  EXPECT_EQ(std::count(names.begin(), names.end(), "mu_g > 0 (Assumption 2)"), 1);
}

TYPED_TEST(EveryTheorem, NamesAnLg1BelowMu) {
  Constants k = small_problem();
  k.L_g1 = 1;
  const Names names = failures(compliant<TypeParam>(), k);
  EXPECT_EQ(std::count(names.begin(), names.end(), "L_g1 >= mu_g (Assumption 2)"), 1);
}

TYPED_TEST(EveryTheorem, SaysWhereTheConstantsHold) {
  Constants k = small_problem();
  k.region = "x in X";
  EXPECT_EQ(theorem_conditions(compliant<TypeParam>(), k, T).front().detail, "1; x in X");
}

TYPED_TEST(EveryTheorem, WantsSeparateWarmStarts) {
  TypeParam o = compliant<TypeParam>();
  o.warm_start = WarmStart::dual;
  ASSERT_EQ(failures(o).size(), 1u);
  EXPECT_TRUE(failures(o)[0].starts_with("warm_start = separate"));
  EXPECT_EQ(find(o, "warm_start").detail, "dual");
}

TYPED_TEST(EveryTheorem, WantsAFirstMultiplierAboveItsLimit) {
  TypeParam o = compliant<TypeParam>();
  o.lambda1 = 1.0;  // = 2 L_f1/μ_g
  const Condition c = find(o, "lambda_1 > 2 L_f1/mu_g");
  EXPECT_FALSE(c.holds);
  EXPECT_EQ(c.detail, "1 > 1");
}

TYPED_TEST(EveryTheorem, WantsAlphaBelowItsLimitInEveryRound) {
  TypeParam o = compliant<TypeParam>();
  o.alpha = Schedule(0.2, 0.1);  // 0.2 in round 1, 0.317 in round 100; the limit is 0.25
  EXPECT_FALSE(find(o, "alpha_t <= 1/L_g1").holds);
}

TYPED_TEST(EveryTheorem, RefusesAHorizonOfNoRounds) {
  EXPECT_THROW((void)theorem_conditions(compliant<TypeParam>(), small_problem(), 0), ConfigError);
}

TEST(TheoremOne, NamesEachViolation) {
  using O = F2oboOptions;
  const std::string gamma = "gamma <= sqrt((1-rho)/C_lambda)/(16 kappa_g) (Theorem 1)";
  expect_failures<O>([](O& o) { o.tau = 0; }, {"tau > 0 (Theorem 1)"});
  // α/λ_t with α = 1/L_g1 is twice the limit of β_t; ρ and c shrink with it, so γ stays allowed.
  expect_failures<O>([](O& o) { o.beta_rule = BetaRule::alpha_over_lambda; },
                     {"beta_t lambda_t <= 1/(2 L_g1) (Theorem 1)"});
  expect_failures<O>([](O& o) { o.gamma.scale *= 1.05; }, {gamma});  // K = ⌈70.4⌉ left c = 0.923, 1/√c = 1.041
  expect_failures<O>([](O& o) { o.gamma = 1; }, {"gamma <= 1/(2 L_F) (Theorem 1)", gamma});
  expect_failures<O>([](O& o) { o.gamma.power = -0.1; }, {"gamma_t constant (Theorem 1)"});
  expect_failures<O>([](O& o) { o.inner_steps.power = 0.01; }, {"K_t constant (Theorem 1)"});
  expect_failures<O>([](O& o) { o.inner_steps = 6; }, {"K >= 1 - ln 2/ln rho (Theorem 1)", gamma});  // 6.19 wanted
}

TEST(TheoremOne, TellsHowManyStepsWouldMakeCOne) {
  F2oboOptions o = compliant<F2oboOptions>();
  o.inner_steps = 7;  // λ_T = 110, ρ = 7/8: c = 110² (7/8)^7 = 4751.6…, and K = ⌈2 ln 110/ln(8/7)⌉ = 71 for c = 1
  const std::string detail = find(o, "gamma <= sqrt").detail;
  EXPECT_NE(detail.find("c = lambda_T^2 rho^K = 4751.6"), std::string::npos) << detail;
  EXPECT_NE(detail.find("c = 1 takes K = 71"), std::string::npos) << detail;
}

TEST(TheoremOne, AllowsFewerStepsWithASmallerGamma) {
  F2oboOptions o = compliant<F2oboOptions>();
  o.inner_steps = 7;
  o.gamma.scale /= 70;  // √4751.6 = 68.9
  EXPECT_EQ(failures(o), Names{});
}

TEST(TheoremTwo, NamesEachViolation) {
  using O = F2oboSingleLoopOptions;
  const std::string limit = "gamma_t lambda_t < sqrt((1-rho)/(3 C_g))/8 (Theorem 2)";
  // At τ = ½ the preset's γ_t λ_t ∝ t^(½ − 1/3) grows, too.
  expect_failures<O>(
      [](O& o) {
        o.tau = 0.5;
        o.gamma.power = -0.5;
      },
      {"tau in (0, 1/2) (Theorem 2)"});
  expect_failures<O>([](O& o) { o.L_g1 = 4.1; }, {"beta_t lambda_t = 1/(2 L_g1) (Theorem 2)"});
  expect_failures<O>([](O& o) { o.L_g1 = 3.9; }, {"beta_t lambda_t = 1/(2 L_g1) (Theorem 2)"});
  expect_failures<O>(
      [](O& o) {
        o.beta_rule = BetaRule::schedule;
        o.beta = Schedule(1 / 8.8, -0.4);
      },  // right at t = 1
      {"beta_t lambda_t = 1/(2 L_g1) (Theorem 2)"});
  expect_failures<O>([](O& o) { o.gamma.scale /= 0.98; }, {limit});
  expect_failures<O>([](O& o) { o.gamma.power = 0; }, {limit});  // t = 1 alone is within it
  expect_failures<O>(
      [](O& o) {
        o.gamma = Schedule(o.gamma.scale / 4, 0.01);
        o.tau = 0.1;
      },
      {"gamma_t never grows (needed by the proof of Theorem 2)"});
}

TEST(TheoremTwo, NamesALimitOfSmoothness) {
  F2oboSingleLoopOptions o = compliant<F2oboSingleLoopOptions>();
  o.gamma = 1.0 / 18;  // = 1/(2 L_F), and the theorem is strict
  EXPECT_FALSE(find(o, "gamma_t < 1/(2 L_F)").holds);
}

TEST(TheoremTwo, NamesAFirstMultiplierBelowOne) {
  F2oboSingleLoopOptions o = compliant<F2oboSingleLoopOptions>();
  o.lambda1 = 0.5;
  EXPECT_FALSE(find(o, "lambda_1 >= 1 (needed by the proof of Theorem 2)").holds);
}

TEST(TheoremThree, NamesEachViolation) {
  using O = Af2oboOptions;
  expect_failures<O>(
      [](O& o) {
        o.tau = 0;
        o.delta_z = 0.1;
      },
      {"tau > 0 (Theorem 3)"});
  expect_failures<O>(
      [](O& o) {
        o.beta_rule = BetaRule::schedule;
        o.beta = 1;
      },
      {"beta_t lambda_t <= 1/(2 L_g1) (Theorem 3)"});
  expect_failures<O>([](O& o) { o.gamma = 0.06; }, {"gamma <= 1/(2 L_F) (Theorem 3)"});  // 1/18
  expect_failures<O>([](O& o) { o.gamma.power = -0.5; }, {"gamma_t constant (Theorem 3)"});
  expect_failures<O>([](O& o) { o.delta_y = 0.2; }, {"delta_y <= T^(-1/2) (Theorem 3)"});
  expect_failures<O>([](O& o) { o.delta_z = 0.02; }, {"delta_z <= T^(-(1+2 tau)/2) (Theorem 3)"});
}

TEST(TheoremFour, NamesEachViolation) {
  using O = Sf2oboOptions;
  const std::string steps = "K_t = 4 kappa_g max{t^(b-tau), t^a} log t (Theorem 4)";
  const std::string beta = "beta_t lambda_t <= 1/(2 L_g1) (needed by the proof of Theorem 4)";
  const std::string seven = "gamma <= sqrt((1-rho)/(7 c_lambda))/(48 kappa_g L_g1) (Theorem 4)";
  const std::string fourteen =
      "gamma <= sqrt((1-rho)/(14 c_lambda))/(48 kappa_g L_g1) (needed by the proof of Theorem 4)";
  expect_failures<O>([](O& o) { o.samples = Samples::round; }, {"samples = fresh (Theorem 4)"});
  expect_failures<O>([](O& o) { o.batch = 256; }, {"batch = t^B2 (Theorem 4)"});
  expect_failures<O>([](O& o) { o.outer_batch.scale = 2; }, {"outer_batch = t^B1 (Theorem 4)"});
  expect_failures<O>([](O& o) { o.inner_steps.scale = 9; }, {steps});
  expect_failures<O>([](O& o) { o.gamma.scale *= 1.4; }, {fourteen});  // below √2
  expect_failures<O>([](O& o) { o.gamma.scale *= 1.5; }, {seven, fourteen});
  expect_failures<O>([](O& o) { o.gamma.power = -0.1; }, {"gamma_t constant (Theorem 4)"});
  // b = 0 < τ: β_t exceeds its limit from t = 2 on, which the theorem does not forbid.
  expect_failures<O>([](O& o) { o.beta.power = 0; }, {beta});
  expect_failures<O>([](O& o) { o.beta.scale /= 1.001; }, {"beta_t = 1/(2 lambda_1 L_g1 t^b) (Theorem 4)", fourteen});
}

TEST(TheoremFour, NamesATauOfAHalf) {
  Sf2oboOptions o = compliant<Sf2oboOptions>();
  o.tau = 0.5;
  EXPECT_FALSE(find(o, "tau in (0, 1/2)").holds);
}

TEST(TheoremFour, TakesTheTheoryRuleOfBetaAsBEqualToTau) {
  Sf2oboOptions o = compliant<Sf2oboOptions>();
  o.beta_rule = BetaRule::theory;
  EXPECT_EQ(failures(o), Names{});
}

TEST(TheoremFour, SaysThatFiveStepsAreTooFewToContract) {
  Sf2oboOptions o = compliant<Sf2oboOptions>();
  o.inner_steps = 5;  // q = 7/8: 2 q⁵ = 1.03
  EXPECT_FALSE(find(o, "rho = 2 max{q_t, p_t}^K_t < 1").holds);
  EXPECT_EQ(find(o, "K_t = 4 kappa_g").detail, "K_1 = 5, theorem 1");
}

TEST(PaperSettings, LieOutsideTheoremsTwoAndFourForTheirTau) {
  F2oboSingleLoopOptions single;
  Sf2oboOptions stochastic;
  apply_preset(Preset::paper, single, small_problem(), T);
  apply_preset(Preset::paper, stochastic, small_problem(), T);
  EXPECT_FALSE(find(single, "tau in (0, 1/2)").holds);
  EXPECT_FALSE(find(stochastic, "tau in (0, 1/2)").holds);
}

}  // namespace
