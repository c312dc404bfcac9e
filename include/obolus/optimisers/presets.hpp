// The presets of the paper's four algorithms, and, by baseline_presets.hpp, of every other optimiser that has some.
// theorem_conditions.hpp, included here, tells whether given options meet the conditions of their theorem.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "obolus/core/error.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/preset.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/baseline_presets.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/preset_checks.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/optimisers/theorem_conditions.hpp"
#include "obolus/optimisers/theorem_constants.hpp"

namespace obolus {

namespace theory {

// A tenth above Theorem 1's 2 L_f1/μ_g, and at least 1, which the proofs of Theorems 2 and 4 use without stating it.
[[nodiscard]] inline double first_multiplier(const Constants& k) { return std::max(1.0, 1.1 * 2 * k.L_f1 / k.mu_g); }

template <class Options>
void set_shared(Options& o, const Constants& k, double tau) {
  o.alpha = 1 / k.L_g1;
  o.lambda1 = first_multiplier(k);
  o.tau = tau;
  o.beta_rule = BetaRule::theory;
  o.L_g1 = k.L_g1;
  o.warm_start = WarmStart::separate;
}

// c = 1: K is then the smallest number of steps with λ_T² ρ^K ≤ 1.
inline void set_theory(F2oboOptions& o, const Constants& k, Round T) {
  set_shared(o, k, 1.0);
  const double gap = double_loop_gaps(o, k, T).both(), c = 1.0;
  o.inner_steps = std::ceil(std::max(steps_to_contract(gap), steps_for_c(o, gap, T, c)));
  o.gamma = std::min(smoothness_limit(k), gamma_limit(k, gap, c));
}

inline void set_theory(F2oboSingleLoopOptions& o, const Constants& k, Round T) {
  constexpr double below = 0.99;  // Theorem 2 has γ_t < …
  set_shared(o, k, 1.0 / 3.0);
  const double gap = single_loop_gaps(o, k, T).both();
  const double C_g = SingleLoopConstants(k, o.alpha(1)).C_g;
  o.gamma = Schedule(below * single_loop_gamma_limit(o.lambda1, gap, C_g), -o.tau);
  o.gamma.max = below * smoothness_limit(k);
}

inline void set_theory(Af2oboOptions& o, const Constants& k, Round T) {
  set_shared(o, k, 0.5);
  const double horizon = static_cast<double>(T);
  o.delta_y = std::pow(horizon, -0.5);
  o.delta_z = std::pow(horizon, -(1 + 2 * o.tau) / 2);
  o.gamma = k.L_F() > 0 ? smoothness_limit(k) : 1.0;  // F affine: Theorem 3 sets no limit
  o.max_inner = inner_cap(k);
}

// The corollary's exponents: τ = b = 1/6, a = 0, B_1 = B_2 = 2/3.
inline void set_theory(Sf2oboOptions& o, const Constants& k, Round T) {
  set_shared(o, k, 1.0 / 6.0);
  const double a = 0.0, b = 1.0 / 6.0;
  o.beta_rule = BetaRule::schedule;
  o.beta = Schedule(1 / (2 * o.lambda1 * k.L_g1), -b);
  o.inner_steps = Schedule(4 * k.kappa(), std::max(b - o.tau, a));
  o.inner_steps.log = true;
  o.samples = Samples::fresh;
  o.batch = o.outer_batch = Schedule(1.0, 2.0 / 3.0);
  const StochasticConstants s(o, k, T);
  o.gamma = std::min(smoothness_limit(k), stochastic_gamma_limit(k, s.gap, s.c_lambda, 14));
}

// Horizon-free forms. F²OBO: K_t ≥ 2τ ln t/(−ln ρ) keeps λ_t² ρ^(K_t) ≤ λ_1² for all t. Unrolled with a K that grows,
// Theorem 1's proof meets λ_t² ρ^(K_m) with m < t, hence Σ_i (1 + i/2)² ρ^i (τ = 1) in the place of
// Σ_i ρ^i = 1/(1 − ρ), and a γ smaller by the root of their quotient.
inline void set_anytime(F2oboOptions& o, const Constants& k) {
  set_shared(o, k, 1.0);
  const double gap = double_loop_gaps(o, k, 1).both(), rho = 1 - gap, c = o.lambda1 * o.lambda1;
  o.inner_steps = Schedule(-2 * o.tau / std::log1p(-gap));
  o.inner_steps.log = true;
  o.inner_steps.min = std::ceil(steps_to_contract(gap));
  const double quotient = 1 + rho / gap + rho * (1 + rho) / (4 * gap * gap);
  o.gamma = std::min(smoothness_limit(k), gamma_limit(k, gap, c) / std::sqrt(quotient));
}

// Nothing in Theorem 2's schedules needs T.
inline void set_anytime(F2oboSingleLoopOptions& o, const Constants& k) { set_theory(o, k, 1); }

// δ_y = t^(−1/2) and δ_z = t^(−(1+2τ)/2): Σ δ_y² and Σ λ_t² δ_z² are then O(log T), the order of Σ t^(−2τ) at τ = ½.
inline void set_anytime(Af2oboOptions& o, const Constants& k) {
  set_theory(o, k, 1);
  o.delta_y = Schedule(1.0, -0.5);
  o.delta_z = Schedule(1.0, -(1 + 2 * o.tau) / 2);
}

// The corollary's schedules follow t; only γ's limit has a maximum over the rounds, which λ_t² q_t^(K_t) attains early.
inline void set_anytime(Sf2oboOptions& o, const Constants& k) { set_theory(o, k, 100'000); }

// The paper's one setting for all four algorithms. It does not give β_t: α/λ_t is our choice.
template <class Options>
void set_paper(Options& o) {
  o.alpha = 0.1;
  o.gamma = 0.001;
  o.lambda1 = 5.0;
  o.tau = 1.0;
  o.beta_rule = BetaRule::alpha_over_lambda;
  o.warm_start = WarmStart::separate;
  if constexpr (requires { o.inner_steps; }) o.inner_steps = 5.0;
  if constexpr (requires { o.delta_y; }) {
    o.delta_y = 0.5;
    o.delta_z = 0.1;
  }
  if constexpr (requires { o.samples; }) {
    o.samples = Samples::round;
    o.batch = o.outer_batch = 256.0;
  }
}

// What worked in trials on text (docs/text.md): w kept, a constant multiplier, steps of y from the smoothness of g,
// Adam on the logarithms of x with a common level and a pull to their mean. x must be positive.
template <class Options>
void set_practical(Options& o, const Constants& k) {
  const double L = std::isfinite(k.L_yy) ? k.L_yy : k.L_g1;
  if (!(std::isfinite(L) && L > 0))
    throw ConfigError("preset \"practical\": the smoothness of g is unknown; set optimiser.L_g1 = …");
  o.alpha = 1.0 / L;
  o.lambda1 = 100.0;
  o.tau = 0.0;
  o.beta_rule = BetaRule::alpha_over_lambda;
  o.warm_start = WarmStart::dual;
  if constexpr (requires { o.inner_steps; }) o.inner_steps = 5.0;
  o.gamma = 0.02;
  o.outer.geometry = Geometry::log_adam;
  o.outer.level = 1.0;
  o.outer.shrinkage = 0.01;
}

template <class Options>
void apply(Preset preset, Options& o, const Constants& k, Round T, std::string_view optimiser) {
  switch (preset) {
    case Preset::standard: o = Options{}; return;
    case Preset::paper: set_paper(o); return;
    case Preset::practical: set_practical(o, k); return;
    case Preset::orders:
    case Preset::authors: refuse(preset, optimiser, "\"default\", \"paper\", \"theory\", \"anytime\" or \"practical\"");
    case Preset::theory:
    case Preset::anytime: break;
  }
  check_horizon(T);
  require_constants(k, preset, optimiser);
  if (preset == Preset::theory) set_theory(o, k, T);
  else set_anytime(o, k);
}

}  // namespace theory

// Sets every option that the preset determines. `theory` and `anytime` use the constants and throw a ConfigError when
// one is missing; only `theory` uses the horizon T.
inline void apply_preset(Preset preset, F2oboOptions& o, const Constants& k, Round T) {
  theory::apply(preset, o, k, T, F2obo::info.name);
}
inline void apply_preset(Preset preset, F2oboSingleLoopOptions& o, const Constants& k, Round T) {
  theory::apply(preset, o, k, T, F2oboSingleLoop::info.name);
}
inline void apply_preset(Preset preset, Af2oboOptions& o, const Constants& k, Round T) {
  theory::apply(preset, o, k, T, Af2obo::info.name);
}
inline void apply_preset(Preset preset, Sf2oboOptions& o, const Constants& k, Round T) {
  theory::apply(preset, o, k, T, Sf2obo::info.name);
}

}  // namespace obolus
