#include "obolus/optimisers/theorem_constants.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/optimisers/random_constants.hpp"

namespace {

using namespace obolus;
using namespace obolus::theory;

Constants small_problem() {  // κ_g = 2
  Constants k;
  k.L_f0 = 3;
  k.L_f1 = 1;
  k.L_g1 = 4;
  k.L_g2 = 0;
  k.mu_g = 2;
  k.M = 1;
  return k;
}

TEST(PowerSum, KnowsTheSumsThatHaveAClosedForm) {
  EXPECT_EQ(power_sum(-0.7, 1), 1.0);
  EXPECT_DOUBLE_EQ(power_sum(0.0, 1000), 1000.0);
  EXPECT_DOUBLE_EQ(power_sum(1.0, 1000), 500500.0);
  EXPECT_NEAR(power_sum(-1.0, 1'000'000), 14.392726722865723631, 1e-13);  // H_n = ln n + 0.57721566… + 1/(2n) − …
  EXPECT_NEAR(power_sum(-2.0, 1'000'000'000'000), std::numbers::pi * std::numbers::pi / 6, 2e-12);  // less 1/T
}

// The formula's own error is below 1e-20; what is seen is the rounding of 64 additions and a few products.
RC_GTEST_PROP(PowerSum, AgreesWithAddingUp, ()) {
  const double p = *rc::gen::inRange(-300, 301) / 100.0;
  const Round T = *rc::gen::inRange(1, 5000);
  long double slow = 0;
  for (Round t = T; t >= 1; --t) slow += std::pow(static_cast<long double>(t), static_cast<long double>(p));
  RC_ASSERT(std::abs(power_sum(p, T) / static_cast<double>(slow) - 1) < 1e-13);
}

TEST(Extremes, OfAMonotoneScheduleAreAtItsEnds) {
  const Schedule falling(2.0, -0.5);
  const Extremes ends = extremes(100, true, falling), all = extremes(100, false, falling);
  EXPECT_EQ(ends.min, all.min);
  EXPECT_EQ(ends.max, all.max);
  EXPECT_DOUBLE_EQ(ends.min, 0.2);
  EXPECT_EQ(extremes(1, true, falling).min, 2.0);
}

TEST(Extremes, OfBetaLambdaSeeARoundInTheMiddle) {
  F2oboOptions o;  // β_t = max(t^−2, 0.01) falls to t = 10 and stays, so β_t λ_t = 5 t β_t is smallest there: 0.5
  o.lambda1 = 5;
  o.tau = 1;
  o.beta_rule = BetaRule::schedule;
  o.beta = Schedule(1.0, -2.0);
  o.beta.min = 0.01;
  EXPECT_DOUBLE_EQ(beta_lambda_extremes(o, 1000).min, 0.5);
  EXPECT_DOUBLE_EQ(beta_lambda_extremes(o, 1000).max, 50.0);
}

TEST(Contraction, OfTheDoubleLoopIsTheSlowerOfYAndZ) {
  F2oboOptions o;
  o.alpha = 0.25;
  o.beta_rule = BetaRule::theory;
  o.L_g1 = 4.0;
  const Gaps gaps = double_loop_gaps(o, small_problem(), 50);
  EXPECT_DOUBLE_EQ(gaps.y, 0.125);  // β_t λ_t μ_g/2 = 1/(4 κ_g)
  EXPECT_DOUBLE_EQ(gaps.z, 0.5);    // α μ_g
  EXPECT_DOUBLE_EQ(gaps.both(), 0.125);
}

TEST(Contraction, OfTheSingleLoopIsTheLemmas) {
  F2oboSingleLoopOptions o;
  o.alpha = 0.25;
  EXPECT_DOUBLE_EQ(single_loop_gaps(o, small_problem(), 50).y, 1.0 / 16);  // 1/(8 κ_g)
  EXPECT_DOUBLE_EQ(single_loop_gaps(o, small_problem(), 50).z, 0.25);      // α μ_g/2
}

TEST(CTau, IsTheAppendixFormula) {
  // θ = 1: λ_1² e (Γ(2)/1 + 1) = 4 · e · 2.
  EXPECT_NEAR(c_tau(2.0, 0.5, 1 - std::exp(-1.0)), 8 * std::numbers::e, 1e-13);
}

// The proof adds 1 where the largest term stands, so this inequality is checked here and not taken from it.
RC_GTEST_PROP(CTau, BoundsTheSumItStandsForWhenTauIsAtMostOne, ()) {
  const double tau = *rc::gen::inRange(1, 101) / 100.0, gap = random_magnitude(1e-2, 0.9);
  double sum = 0;
  for (Round t = 1; t <= 20'000; ++t)
    sum += std::exp(2 * tau * std::log(static_cast<double>(t)) + static_cast<double>(t - 1) * std::log1p(-gap));
  RC_ASSERT(sum <= c_tau(1.0, tau, gap) * (1 + 1e-12));
}

TEST(InnerSteps, ToContractAreTwoForRhoOfAHalf) {
  EXPECT_DOUBLE_EQ(steps_to_contract(0.5), 2.0);  // 2 (½)² = ½
}

RC_GTEST_PROP(InnerSteps, ForCAreTheFewestThatReachIt, ()) {
  F2oboOptions o;
  o.lambda1 = random_magnitude(1, 1e3);
  o.tau = *rc::gen::inRange(1, 200) / 100.0;
  const double gap = random_magnitude(1e-4, 0.5), c = random_magnitude(1e-2, 1);
  const Round T = *rc::gen::inRange(2, 100'000);
  const double K = std::ceil(steps_for_c(o, gap, T, c));
  const auto product = [&](double steps) { return 2 * std::log(lambda_at(o, T)) + steps * std::log1p(-gap); };
  RC_ASSERT(product(K) <= std::log(c) + 1e-9);
  RC_ASSERT(product(K - 1) > std::log(c) - 1e-9);
}

RC_GTEST_PROP(SmallestC, IsTheLargestProductOverTheRounds, ()) {
  F2oboOptions o;
  o.lambda1 = random_magnitude(1, 100);
  o.tau = *rc::gen::inRange(1, 200) / 100.0;
  o.inner_steps = static_cast<double>(*rc::gen::inRange(1, 50));
  if (*rc::gen::arbitrary<bool>()) o.inner_steps.log = true;
  const double gap = random_magnitude(1e-3, 0.5);
  const Round T = *rc::gen::inRange(1, 300);
  double slow = 0;
  for (Round t = 1; t <= T; ++t) {
    double product = lambda_at(o, t) * lambda_at(o, t);
    for (std::int64_t n = 0; n < o.inner_steps.count(t); ++n) product *= 1 - gap;
    slow = std::max(slow, product);
  }
  RC_ASSERT(std::abs(smallest_c(o, gap, T) / slow - 1) < 1e-10);  // up to 300 rounded factors
}

TEST(TheoremOne, ItsLimitOfGammaLeavesThreeQuartersOfTheRegret) {
  const Constants k = small_problem();
  const double gap = 0.125, c = 2, gamma = gamma_limit(k, gap, c), kappa = 2;
  EXPECT_DOUBLE_EQ(C_lambda(k, c), 84 * 2 * 16);
  EXPECT_NEAR(64 * gamma * gamma * C_lambda(k, c) * kappa * kappa / gap, 0.25, 1e-15);
}

TEST(TheoremTwo, ItsConstantsAreTheAppendixOnes) {
  const SingleLoopConstants s(small_problem(), 0.25);  // L_g1² = 16, κ_g = 2, α μ_g = ½
  EXPECT_DOUBLE_EQ(s.c_lambda, 2654208);               // 6·16·1536·9·8/4
  EXPECT_DOUBLE_EQ(s.C_g, 224256);                     // 6·16·288·8 + 3·16·8·4/½
  EXPECT_DOUBLE_EQ(s.c_g, 36864);                      // 6·16·384·2/2
  EXPECT_DOUBLE_EQ(s.c_g_prime, 768);                  // 3·16·8/½
}

TEST(TheoremTwo, ItsLimitOfGammaLeavesHalfOfTheRegret) {
  const double gap = 0.1, C_g = 1000, lambda1 = 3, gamma = single_loop_gamma_limit(lambda1, gap, C_g);
  EXPECT_NEAR(96 * std::pow(lambda1 * gamma, 2) * C_g / gap, 0.5, 1e-15);
}

TEST(TheoremTwo, CSOfTwoRoundsByHand) {
  // τ = ρ_y = ½, t = 2 alone: ¼ (2³/(½·4) + (½)²·2/(2³·½)) = ¼ (4 + 1/8).
  EXPECT_DOUBLE_EQ(C_S(0.5, 0.5, 2), 1.03125);
  EXPECT_EQ(C_S(0.5, 0.5, 1), 0.0);
}

// Adding 3,000 positive terms loses at most 3000 ε = 7e-13.
RC_GTEST_PROP(TheoremTwo, CSAgreesWithAddingUp, ()) {
  const double tau = *rc::gen::inRange(1, 100) / 100.0, gap = random_magnitude(1e-4, 0.125);
  const Round T = *rc::gen::inRange(2, 3000);
  long double slow = 0;
  for (Round t = 2; t <= T; ++t) {
    const long double s = static_cast<long double>(t), four = std::pow(2.0L, 2 * tau + 2);
    slow += four / (gap * s * s) +
            std::pow(1.0L - gap, static_cast<long double>(t / 2 + 1)) * std::pow(s, 2.0L * tau) / (four * gap);
  }
  RC_ASSERT(std::abs(C_S(tau, gap, T) / static_cast<double>(tau * tau * slow) - 1) < 1e-12);
}

// On its way to C_S the proof replaces (m − 1)² by m²; what it gives away afterwards makes up for that.
RC_GTEST_PROP(TheoremTwo, CSStaysAboveTheSumItStandsFor, ()) {
  const double tau = *rc::gen::inRange(1, 50) / 100.0, gap = 1 / (8 * random_magnitude(1, 100));
  const Round T = *rc::gen::inRange(2, 3000);
  double sum = 0, inner = 0;  // inner = Σ_m ρ^(t−m) (1/λ_(m−1) − 1/λ_m)² with λ_1 = 1
  for (Round t = 2; t <= T; ++t) {
    const double now = std::pow(static_cast<double>(t), tau), before = std::pow(static_cast<double>(t - 1), tau);
    inner = (1 - gap) * inner + std::pow(1 / before - 1 / now, 2);
    sum += now * now * inner;
  }
  RC_ASSERT(sum <= C_S(tau, gap, T));
}

Sf2oboOptions corollary(const Constants& k) {
  Sf2oboOptions o;
  o.lambda1 = 1;
  o.tau = 1.0 / 6;
  o.alpha = 1 / k.L_g1;
  o.beta_rule = BetaRule::theory;
  o.L_g1 = k.L_g1;
  o.inner_steps = 4 * k.kappa();
  o.inner_steps.log = true;
  return o;
}

TEST(TheoremFour, ItsConstantsForKappaOfOneByHand) {
  Constants k = small_problem();
  k.L_g1 = k.mu_g = 1;
  // q_t = ¾; K_1 = 1, K_2 = ⌈4 ln 2⌉ = 3, K_3 = ⌈4 ln 3⌉ = 5. 2 q^K: 27/32 at t = 2, then 0.47.
  // λ_t² q^K: ¾ at t = 1, 2^(1/3)·27/64 = 0.53 at t = 2.
  const StochasticConstants s(corollary(k), k, 3);
  EXPECT_DOUBLE_EQ(s.gap, 5.0 / 32);
  EXPECT_DOUBLE_EQ(s.c_lambda, 0.75);
}

RC_GTEST_PROP(TheoremFour, ItsConstantsAgreeWithMultiplyingOut, ()) {
  const Constants k = random_constants(50);
  const Sf2oboOptions o = corollary(k);
  const Round T = *rc::gen::inRange(2, 60);
  double rho = 0, c_lambda = 0;
  for (Round t = 1; t <= T; ++t) {
    const double q = 1 - beta_at(o, t) * lambda_at(o, t) * k.mu_g / 2, p = 1 - o.alpha(t) * k.mu_g;
    double q_power = 1, p_power = 1;
    for (std::int64_t n = 0; n < o.inner_steps.count(t); ++n) {
      q_power *= q;
      p_power *= p;
    }
    if (t >= 2) rho = std::max({rho, 2 * q_power, 2 * p_power});
    c_lambda = std::max(c_lambda, lambda_at(o, t) * lambda_at(o, t) * std::max(q_power, p_power));
  }
  const StochasticConstants s(o, k, T);
  RC_ASSERT(std::abs(s.gap - (1 - rho)) < 1e-11);  // 1 − ρ here, after up to 900 rounded factors
  RC_ASSERT(std::abs(s.c_lambda - c_lambda) < 1e-11 * c_lambda);
}

TEST(TheoremFour, ItsPrintedLimitOfGammaLeavesNothingOfTheRegretAndFourteenLeavesHalf) {
  const Constants k = small_problem();
  const double gap = 0.1, c = 2;
  const auto absorbed = [&](double seven) {
    return 16128 * std::pow(stochastic_gamma_limit(k, gap, c, seven) * k.kappa() * k.L_g1, 2) * c / gap;
  };
  EXPECT_NEAR(absorbed(7), 1.0, 1e-14);
  EXPECT_NEAR(absorbed(14), 0.5, 1e-14);
}

TEST(Horizon, OfNoRoundsIsRefused) {
  EXPECT_THROW(check_horizon(0), ConfigError);
  EXPECT_NO_THROW(check_horizon(1));
}

}  // namespace
