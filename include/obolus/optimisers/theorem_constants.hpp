// The constants behind the O(·) of Theorems 1, 2 and 4, as the paper's appendix defines them, for given options, a
// problem's constants and a horizon T. Lemmas are cited by their labels there.
//
// A contraction factor ρ is kept as its gap 1 − ρ: at κ_g = 10⁶ a stored ρ has lost six digits of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "obolus/core/error.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/schedule.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/penalty_options.hpp"
#include "obolus/optimisers/sf2obo.hpp"

namespace obolus::theory {

inline void check_horizon(Round T) {
  if (T < 1) throw ConfigError("horizon T: got " + std::to_string(T) + ", expected at least 1 round");
}

struct Extremes {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
};

// The minimum and maximum of a value over t = 1 … T; a monotone one is evaluated at its two ends only.
template <class F>
[[nodiscard]] Extremes extremes(Round T, bool monotone, F&& value) {
  Extremes e;
  for (Round t = 1; t <= T; t += monotone ? std::max<Round>(1, T - 1) : 1) {
    const double v = value(t);
    e.min = std::min(e.min, v);
    e.max = std::max(e.max, v);
  }
  return e;
}

// scale · t^power and nothing else, hence monotone, and still monotone after a multiplication by λ_t.
[[nodiscard]] inline bool is_power(const Schedule& s) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return s.is_monotone() && s.min == -infinity && s.max == infinity;
}

template <class Options>
[[nodiscard]] Extremes alpha_extremes(const Options& o, Round T) {
  return extremes(T, o.alpha.is_monotone(), o.alpha);
}

template <class Options>
[[nodiscard]] Extremes gamma_extremes(const Options& o, Round T) {
  return extremes(T, o.gamma.is_monotone(), o.gamma);
}

// β_t λ_t, which the theorems compare with 1/(2 L_g1).
template <class Options>
[[nodiscard]] Extremes beta_lambda_extremes(const Options& o, Round T) {
  const bool monotone =
      o.beta_rule == BetaRule::theory || is_power(o.beta_rule == BetaRule::schedule ? o.beta : o.alpha);
  return extremes(T, monotone, [&](Round t) { return beta_at(o, t) * lambda_at(o, t); });
}

// γ_t λ_t, which Theorem 2 keeps bounded.
template <class Options>
[[nodiscard]] Extremes gamma_lambda_extremes(const Options& o, Round T) {
  return extremes(T, is_power(o.gamma), [&](Round t) { return o.gamma(t) * lambda_at(o, t); });
}

// Σ_{t=1}^{T} t^p: 64 terms as they stand, the rest by the Euler–Maclaurin formula up to the fifth derivative. What it
// neglects first is below 10⁻¹⁶ of the sum for −8 ≤ p ≤ 8.
[[nodiscard]] inline double power_sum(double p, Round T) {
  constexpr Round head = 64;
  double sum = 0.0;
  for (Round t = 1; t <= std::min(T, head); ++t) sum += std::pow(static_cast<double>(t), p);
  if (T <= head) return sum;
  const double a = static_cast<double>(head), b = static_cast<double>(T), q = p + 1.0, length = std::log(b / a);
  sum += (q == 0.0 ? length : std::expm1(q * length) / q * std::pow(a, q));
  sum += 0.5 * (std::pow(b, p) - std::pow(a, p));
  constexpr double bernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240};  // B_2k/(2k)!
  double derivative = p;  // p (p − 1) … (p − n + 1), of the n-th derivative
  int n = 1;
  for (const double weight : bernoulli) {
    sum += weight * derivative * (std::pow(b, p - n) - std::pow(a, p - n));
    derivative *= (p - n) * (p - n - 1);
    n += 2;
  }
  return sum;
}

// 1 − ρ_y and 1 − ρ_z; ρ = max{ρ_y, ρ_z}.
struct Gaps {
  double y, z;
  [[nodiscard]] double both() const { return std::min(y, z); }
};

// Lemmas y-y and z-z: ρ_y = 1 − β_t λ_t μ_g/2 and ρ_z = 1 − α μ_g. They are constants in the paper; here each is
// the maximum over the rounds.
template <class Options>
[[nodiscard]] Gaps double_loop_gaps(const Options& o, const Constants& k, Round T) {
  return {std::min(1.0, beta_lambda_extremes(o, T).min * k.mu_g / 2), std::min(1.0, alpha_extremes(o, T).min * k.mu_g)};
}

// Lemmas sl_y-y and sl_z-z: ρ_y = 1 − 1/(8 κ_g) and ρ_z = 1 − α μ_g/2.
[[nodiscard]] inline Gaps single_loop_gaps(const F2oboSingleLoopOptions& o, const Constants& k, Round T) {
  return {1 / (8 * k.kappa()), std::min(1.0, alpha_extremes(o, T).min * k.mu_g / 2)};
}

// c_τ of eq. (c_tau) with θ = −ln ρ: λ_1² e^θ (Γ(2τ+1)/θ^(2τ+1) + 1).
[[nodiscard]] inline double c_tau(double lambda1, double tau, double gap) {
  const double theta = -std::log1p(-gap), power = 2 * tau + 1;
  return lambda1 * lambda1 / (1 - gap) * (std::tgamma(power) / std::pow(theta, power) + 1);
}

// F is L_F-smooth (Lemma L_F), hence γ ≤ 1/(2 L_F); infinite when F is affine.
[[nodiscard]] inline double smoothness_limit(const Constants& k) { return 1 / (2 * k.L_F()); }

// Lemma L_lip: L*_λ is L_{L,0}-Lipschitz.
[[nodiscard]] inline double L_L0(const Constants& k) { return k.L_f0 + 2 * k.L_f0 * k.kappa(); }

// The fewest steps of size 1/L_g1 in y, or terms of a series in v, that leave ε of a squared error:
// (1 − 1/κ_g)^(2n) ≤ ε. What other methods' O(log T) and O(log w) come to.
[[nodiscard]] inline double steps_to_leave(const Constants& k, double epsilon) {
  return std::max(1.0, std::ceil(std::log(epsilon) / (2 * std::log1p(-1 / k.kappa()))));
}

// Theorem 1 ----------------------------------------------------------------------------------------------------------

// 2 ρ^K ≤ ρ  ⇔  K ≥ 1 − ln 2/ln ρ.
[[nodiscard]] inline double steps_to_contract(double gap) { return 1 - std::numbers::ln2 / std::log1p(-gap); }

// λ_T² ρ^K ≤ c  ⇔  K ≥ (ln c − 2 ln λ_1 − 2τ ln T)/ln ρ. The theorem prints this without 2 ln λ_1.
template <class Options>
[[nodiscard]] double steps_for_c(const Options& o, double gap, Round T, double c) {
  return (std::log(c) - 2 * std::log(lambda_at(o, T))) / std::log1p(-gap);
}

// The smallest c with λ_t² ρ^(K_t) ≤ c for t = 1 … T.
[[nodiscard]] inline double smallest_c(const F2oboOptions& o, double gap, Round T) {
  const double log_rho = std::log1p(-gap);
  const auto product = [&](Round t) {
    return std::exp(2 * std::log(lambda_at(o, t)) + static_cast<double>(o.inner_steps.count(t)) * log_rho);
  };
  return extremes(T, o.inner_steps.is_constant(), product).max;
}

// Step (i) in the proof of Lemma nabla_L, eq. (L-L).
[[nodiscard]] inline double C_lambda(const Constants& k, double c) { return 84 * c * k.L_g1 * k.L_g1; }

[[nodiscard]] inline double gamma_limit(const Constants& k, double gap, double c) {
  return std::sqrt(gap / C_lambda(k, c)) / (16 * k.kappa());
}

// Theorem 2: proof of Lemma sl_nabla_L-L -----------------------------------------------------------------------------

struct SingleLoopConstants {
  double c_lambda, C_g, c_g, c_g_prime;

  SingleLoopConstants(const Constants& k, double alpha) {
    const double L2 = k.L_g1 * k.L_g1, kappa = k.kappa(), contraction = alpha * k.mu_g;
    c_lambda = 6 * L2 * 1536 * k.L_f0 * k.L_f0 * std::pow(kappa, 3) / (k.mu_g * k.mu_g);
    C_g = 6 * L2 * 288 * std::pow(kappa, 3) + 3 * L2 * 8 * kappa * kappa / contraction;
    c_g = 6 * L2 * 384 * kappa / k.mu_g;  // as printed; Lemma sl_y-y has μ_g²
    c_g_prime = 3 * L2 * 8 / contraction;
  }
};

// γ_t < limit · t^−τ.
[[nodiscard]] inline double single_loop_gamma_limit(double lambda1, double gap, double C_g) {
  return std::sqrt(gap / (3 * C_g)) / (8 * lambda1);
}

// C_S = τ² Σ_{t=2}^{T} (2^(2τ+2)/((1−ρ_y) t²) + ρ_y^(⌊t/2⌋+1) t^(2τ)/(2^(2τ+2) (1−ρ_y))).
[[nodiscard]] inline double C_S(double tau, double gap_y, Round T) {
  const double four = std::pow(2.0, 2 * tau + 2), log_rho = std::log1p(-gap_y);
  double fading = 0.0;
  for (Round t = 2; t <= T; ++t) {
    const Round steps = t / 2 + 1;
    const double term = std::exp(static_cast<double>(steps) * log_rho + 2 * tau * std::log(static_cast<double>(t)));
    fading += term;
    if (term < 1e-20 * gap_y * fading) break;  // log-concave in t: it has passed its peak and only fades
  }
  return tau * tau / gap_y * (four * (power_sum(-2.0, T) - 1.0) + fading / four);
}

// Theorem 4: Lemmas stochas_y-y, stochas_z-z, stochas_nabla_L ---------------------------------------------------------

// q_t = 1 − β_t λ_t μ_g/2 and p_t = 1 − α_t μ_g. ρ bounds 2 q_t^(K_t) and 2 p_t^(K_t): the telescoping needs that from
// t = 2 on, and at t = 1 no K_t ∝ log t could give it. c_λ bounds λ_t² q_t^(K_t) and λ_t² p_t^(K_t).
struct StochasticConstants {
  double gap = 1.0;  // 1 − ρ; not positive when ρ ≥ 1
  double c_lambda = 0.0;

  StochasticConstants(const Sf2oboOptions& o, const Constants& k, Round T) {
    for (Round t = 1; t <= std::max<Round>(T, 2); ++t) {
      const double lambda = lambda_at(o, t), steps = static_cast<double>(o.inner_steps.count(t));
      const double slower = std::min(beta_at(o, t) * lambda / 2, o.alpha(t)) * k.mu_g;
      const double log_power = steps * std::log1p(-std::min(1.0, slower));
      c_lambda = std::max(c_lambda, std::exp(2 * std::log(lambda) + log_power));
      if (t >= 2) gap = std::min(gap, -std::expm1(std::numbers::ln2 + log_power));
    }
  }
};

// The theorem prints 7. Its proof absorbs 16128 γ² κ_g² L_g1² c_λ/(1−ρ) · BLReg, which is 1 at that limit; it is the ½
// that the final display presumes with 14.
[[nodiscard]] inline double stochastic_gamma_limit(const Constants& k, double gap, double c_lambda, double seven = 7) {
  return std::sqrt(std::max(gap, 0.0) / (seven * c_lambda)) / (48 * k.kappa() * k.L_g1);
}

}  // namespace obolus::theory
