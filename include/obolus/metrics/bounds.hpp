// The regret bounds of Theorems 1–4 with their constants, as the paper prints them in the displays that end its proofs,
// and Theorem 3's bound of the inner iterations. They are shown beside what was measured; `assumptions` says what each
// presumes and what in it is not rigorous.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/knowledge.hpp"
#include "obolus/metrics/bound.hpp"
#include "obolus/optimisers/theorem_conditions.hpp"
#include "obolus/optimisers/theorem_constants.hpp"

namespace obolus {

namespace theory {

inline void assume(Bound& bound, std::string_view theorem, const Constants& k, const std::vector<Condition>& conditions,
                   bool uses_D_1 = true) {
  bound.assumptions.push_back("as printed in the proof of " + std::string(theorem) + "; valid for this horizon only");
  if (!k.region.empty()) bound.assumptions.push_back("the constants hold where: " + k.region);
  if (uses_D_1)
    bound.assumptions.emplace_back("D_1 is not defined in the paper: taken from Kwon et al. (2023), Lemma 3.1");
  for (const Condition& c : conditions)
    if (!c.holds) bound.assumptions.push_back("does not hold: " + c.name + ": " + c.detail);
}

// |G_X(x, d, γ)| falls as γ grows, so the bound on Σ |G_X(x_t, ∇F_t, γ_t)|² covers every fixed γ ≥ max γ_t.
inline void assume_regret_gamma(Bound& bound, double measured, double max) {
  if (measured >= max * (1 - 1e-12)) return;
  bound.assumptions.push_back("the regret is measured with gamma = " + text(measured) +
                              ", below the steps' gamma_t = " + text(max) + ": the theorem does not cover it");
}

[[nodiscard]] inline double squared(double v) { return v * v; }

}  // namespace theory

// Theorem 1, the display that ends its proof.
[[nodiscard]] inline Bound regret_bound(const F2oboOptions& o, const Constants& k, const BoundInputs& in) {
  using namespace theory;
  Bound b;
  assume(b, "Theorem 1", k, theorem_conditions(o, k, in.T));
  b.assumptions.emplace_back("eq. (y-y) has 6 where its lemma gives 12 (1 + (lambda_t/lambda_(t-1))^2)");
  if (beta_lambda_extremes(o, in.T).max < (1 - 1e-12) / (2 * k.L_g1))
    b.assumptions.emplace_back(
        "18432 c kappa_g^3 takes 1/(1-rho_y) = 4 kappa_g, but beta_t is below 1/(2 lambda_t L_g1)");
  const Extremes gamma = gamma_extremes(o, in.T);
  assume_regret_gamma(b, in.gamma, gamma.max);
  const double gap = double_loop_gaps(o, k, in.T).both(), c = smallest_c(o, gap, in.T), C = C_lambda(k, c);
  const double weight = power_sum(-2 * o.tau, in.T) / squared(o.lambda1), kappa = k.kappa();
  b.add("32 M/gamma", 32 * k.M / gamma.min);
  b.add("16 V_T/gamma", 16 * in.V_T / gamma.min);
  b.add("32 D_1^2/lambda_1^2 sum t^(-2 tau)", 32 * squared(k.D_1()) * weight);
  b.add("64 c_tau Delta_1", 64 * c_tau(o.lambda1, o.tau, gap) * in.initial_error);
  b.add("18432 c kappa_g^3 L_f0^2/lambda_1^2 sum t^(-2 tau)",
        18432 * c * std::pow(kappa, 3) * squared(k.L_f0) * weight);
  b.add("256 gamma^2 C_lambda kappa_g^2 D_1^2/(lambda_1^2 (1-rho)) sum t^(-2 tau)",
        256 * squared(gamma.max * kappa * k.D_1()) * C / gap * weight);
  b.add("64 C_lambda/(1-rho) H_2T", 64 * C / gap * in.H_2T);
  return b;
}

// Theorem 2, the display that ends its proof. c_γ is the smallest with λ_t² γ_t² ≤ c_γ.
[[nodiscard]] inline Bound regret_bound(const F2oboSingleLoopOptions& o, const Constants& k, const BoundInputs& in) {
  using namespace theory;
  Bound b;
  assume(b, "Theorem 2", k, theorem_conditions(o, k, in.T));
  b.assumptions.emplace_back("the regret on the right is absorbed without the factor 2 that this costs");
  b.assumptions.push_back("c_g has mu_g where its lemma has mu_g^2: the lemma's terms of E are 1/mu_g = " +
                          text(1 / k.mu_g) + " times these");
  b.assumptions.emplace_back(
      "C_S replaces (m-1)^2 by m^2, up to a factor 4; sums of lambda_t^2 rho^(t-m) count as "
      "lambda_m^2/(1-rho)");
  const Extremes gamma = gamma_extremes(o, in.T);
  assume_regret_gamma(b, in.gamma, gamma.max);
  const Gaps gaps = single_loop_gaps(o, k, in.T);
  const SingleLoopConstants s(k, alpha_extremes(o, in.T).min);
  const double lambda_T = lambda_at(o, in.T), weight = power_sum(-2 * o.tau, in.T) / squared(o.lambda1);
  const double c_gamma = squared(gamma_lambda_extremes(o, in.T).max);
  b.add("16 M/gamma_T", 16 * k.M / gamma.min);
  b.add("8 V_T/gamma_T", 8 * in.V_T / gamma.min);
  b.add("16 D_1^2/lambda_1^2 sum t^(-2 tau)", 16 * squared(k.D_1()) * weight);
  b.add("32 c_tau Delta_1", 32 * c_tau(o.lambda1, o.tau, gaps.both()) * in.initial_error);
  b.add("32 c_lambda C_S", 32 * s.c_lambda * C_S(o.tau, gaps.y, in.T));
  b.add("96 c_gamma C_g D_1^2/(lambda_1^2 (1-rho)) sum t^(-2 tau)",
        96 * c_gamma * s.C_g * squared(k.D_1()) / gaps.both() * weight);
  b.add("32 c_g' lambda_T^2/(1-rho_z) H_2T", 32 * s.c_g_prime * squared(lambda_T) / gaps.z * in.H_2T);
  b.add("32 c_g lambda_T^2/(1-rho_y) E_f", 32 * s.c_g * squared(lambda_T) / gaps.y * in.E_f);
  b.add("32 c_g lambda_T^2/(1-rho_y) E_g", 32 * s.c_g * squared(lambda_T) / gaps.y * in.E_g);
  return b;
}

// Theorem 3, with the tolerances as they are: Lemma nabla_L_3 before δ_y = T^(−1/2) and δ_z = T^(−(1+2τ)/2) turn its
// two terms into 384 κ_g² and 48 λ_1² κ_g².
[[nodiscard]] inline Bound regret_bound(const Af2oboOptions& o, const Constants& k, const BoundInputs& in) {
  using namespace theory;
  Bound b;
  assume(b, "Theorem 3", k, theorem_conditions(o, k, in.T));
  b.assumptions.emplace_back("every inner loop ended at its tolerance, none at max_inner");
  const Extremes gamma = gamma_extremes(o, in.T);
  assume_regret_gamma(b, in.gamma, gamma.max);
  const double rounds = static_cast<double>(in.T), kappa = k.kappa();
  b.add("16 M/gamma", 16 * k.M / gamma.min);
  b.add("8 V_T/gamma", 8 * in.V_T / gamma.min);
  b.add("16 D_1^2/lambda_1^2 sum t^(-2 tau)", 16 * squared(k.D_1() / o.lambda1) * power_sum(-2 * o.tau, in.T));
  if (o.delta_y.is_constant() && o.delta_z.is_constant()) {
    b.add("384 kappa_g^2 delta_y^2 T", 384 * squared(kappa * o.delta_y.scale) * rounds);
    b.add("48 kappa_g^2 lambda_T^2 delta_z^2 T", 48 * squared(kappa * lambda_at(o, in.T) * o.delta_z.scale) * rounds);
    return b;
  }
  double y = 0, z = 0;  // before the lemma takes the maximum of each
  for (Round t = 1; t <= in.T; ++t) {
    y += squared(o.delta_y(t));
    z += squared(lambda_at(o, t) * o.delta_z(t));
  }
  b.add("384 kappa_g^2 sum delta_y^2", 384 * squared(kappa) * y);
  b.add("48 kappa_g^2 sum lambda_t^2 delta_z^2", 48 * squared(kappa) * z);
  return b;
}

namespace theory {

// Of a tolerance over the rounds.
struct ToleranceSums {
  double logs = 0.0;     // Σ ln δ_t
  double squares = 0.0;  // Σ δ_t²

  ToleranceSums(const Schedule& delta, Round T) {
    const Round count = delta.is_constant() ? 1 : T;
    const double each = delta.is_constant() ? static_cast<double>(T) : 1.0;
    for (Round t = 1; t <= count; ++t) {
      logs += each * std::log(delta(t));
      squares += each * squared(delta(t));
    }
  }
};

}  // namespace theory

// Theorem 3's bound of I_T, the steps of y and of z together: the two displays that end its proof, with δ_y and δ_z as
// they are. The logarithms are taken with the largest ρ_y and ρ_z.
[[nodiscard]] inline Bound iteration_bound(const Af2oboOptions& o, const Constants& k, const BoundInputs& in) {
  using namespace theory;
  Bound b;
  assume(b, "Theorem 3", k, theorem_conditions(o, k, in.T), /*uses_D_1=*/false);
  b.assumptions.emplace_back("every inner loop ended at its tolerance, none at max_inner");
  b.assumptions.emplace_back("round 1 is counted as if a round 0 had been solved to the tolerances");
  b.assumptions.emplace_back(
      "lambda_(t-1) is replaced by lambda_t, 12 H_2T by 6 H_2T, and |d_t| is bounded without its error");
  const Gaps gaps = double_loop_gaps(o, k, in.T);
  const double log_y = -std::log1p(-gaps.y), log_z = -std::log1p(-gaps.z);  // ln(1/ρ)
  const ToleranceSums y(o.delta_y, in.T), z(o.delta_z, in.T);
  const double rounds = static_cast<double>(in.T), kappa = k.kappa(), lambda_T = lambda_at(o, in.T);
  const double step = gamma_extremes(o, in.T).max * kappa * L_L0(k);  // how far y* moves with x in a round, at most
  const double L = squared(k.L_g1);
  b.add("2 T", 2 * rounds);
  b.add("2 T ln(1/delta_y)/ln(1/rho_y)", -2 * y.logs / log_y);
  b.add("32 kappa_g^2 delta_y^2 T/ln(1/rho_y)", 32 * squared(kappa) * y.squares / log_y);
  b.add("48 kappa_g^2 L_f0^2 T/ln(1/rho_y)", 48 * squared(kappa * k.L_f0) * rounds / log_y);
  b.add("48 L_g1^2 gamma^2 kappa_g^2 L_L0^2 lambda_T^2 T/ln(1/rho_y)",
        48 * L * squared(step * lambda_T) * rounds / log_y);
  b.add("24 L_g1^2 lambda_T^2 H_2T/ln(1/rho_y)", 24 * L * squared(lambda_T) * in.H_2T / log_y);
  b.add("2 T ln(1/delta_z)/ln(1/rho_z)", -2 * z.logs / log_z);
  b.add("2 kappa_g^2 delta_z^2 T/ln(1/rho_z)", 2 * squared(kappa) * z.squares / log_z);
  b.add("4 L_g1^2 gamma^2 kappa_g^2 L_L0^2 T/ln(1/rho_z)", 4 * L * squared(step) * rounds / log_z);
  b.add("4 L_g1^2 H_2T/ln(1/rho_z)", 4 * L * in.H_2T / log_z);
  return b;
}

namespace theory {

// The sums over rounds in Theorem 4. With the theorem's schedules they are its Σ λ_1² t^(2τ−B_1) and
// Σ (t^(τ−b−B_2) + t^(−a−B_2)).
struct StochasticSums {
  double outer = 0.0;  // Σ λ_t²/B̂_t
  double inner = 0.0;  // Σ L_g1 (2 β_t λ_t + α_t)/B_t

  StochasticSums(const Sf2oboOptions& o, const Constants& k, Round T) {
    const Schedule& outer_batch = o.samples == Samples::fresh ? o.outer_batch : o.batch;
    for (Round t = 1; t <= T; ++t) {
      const double lambda = lambda_at(o, t);
      outer += lambda * lambda / std::max(1.0, outer_batch(t));
      inner += k.L_g1 * (2 * beta_at(o, t) * lambda + o.alpha(t)) / std::max(1.0, o.batch(t));
    }
  }
};

}  // namespace theory

// Theorem 4, the display that ends its proof; a bound on the expected regret.
[[nodiscard]] inline Bound regret_bound(const Sf2oboOptions& o, const Constants& k, const BoundInputs& in) {
  using namespace theory;
  Bound b;
  assume(b, "Theorem 4", k, theorem_conditions(o, k, in.T));
  b.assumptions.emplace_back("of the expected regret, not of one run's");
  b.assumptions.emplace_back(
      "the two terms of g in d_t share their samples: the variance is (1 + 4 lambda_t^2) sigma^2, "
      "not (1 + 2 lambda_t^2) sigma^2");
  b.assumptions.emplace_back("eq. (y-y) has 6 where its lemma gives 12 (1 + (lambda_t/lambda_(t-1))^2)");
  const Extremes gamma = gamma_extremes(o, in.T);
  assume_regret_gamma(b, in.gamma, gamma.max);
  const StochasticConstants s(o, k, in.T);
  const StochasticSums sums(o, k, in.T);
  const double gap = s.gap > 0 ? s.gap : 0.0, weight = power_sum(-2 * o.tau, in.T) / squared(o.lambda1);
  const double kappa = k.kappa(), noise = draws_any(o.samples) ? squared(in.sigma) : 0.0,
               steps = squared(gamma.max * kappa * k.L_g1) * s.c_lambda / gap;
  b.add("32 M/gamma", 32 * k.M / gamma.min);
  b.add("16 V_T/gamma", 16 * in.V_T / gamma.min);
  b.add("48 D_1^2/lambda_1^2 sum t^(-2 tau)", 48 * squared(k.D_1()) * weight);
  b.add("144 sigma^2 sum lambda_t^2/outer_batch", 144 * noise * sums.outer);
  b.add("6912 kappa_g^2 L_f0^2 c_lambda/(lambda_1^2 (1-rho)) sum t^(-2 tau)",
        6912 * squared(kappa * k.L_f0) * s.c_lambda / gap * weight);
  b.add("2592 kappa_g sigma^2 lambda_T^2/(1-rho) sum L_g1 (2 beta_t lambda_t + alpha_t)/batch",
        2592 * kappa * noise * squared(lambda_at(o, in.T)) / gap * sums.inner);
  b.add("32256 gamma^2 kappa_g^2 L_g1^2 c_lambda D_1^2/(lambda_1^2 (1-rho)) sum t^(-2 tau)",
        32256 * steps * squared(k.D_1()) * weight);
  b.add("96 c_tau Delta_1", 96 * c_tau(o.lambda1, o.tau, gap) * in.initial_error);
  b.add("96768 gamma^2 kappa_g^2 L_g1^2 c_lambda sigma^2/(1-rho) sum lambda_t^2/outer_batch",
        96768 * steps * noise * sums.outer);
  b.add("8064 L_g1^2 c_lambda/(1-rho) H_2T", 8064 * squared(k.L_g1) * s.c_lambda / gap * in.H_2T);
  return b;
}

}  // namespace obolus
