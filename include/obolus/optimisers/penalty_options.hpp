// The options of the penalty family: the multiplier λ_t, the step sizes, warm starts, the inner solver and the order.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "obolus/core/heavy_ball.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus {

// β_t, which the paper's experiments never give.
enum class BetaRule : std::uint8_t {
  alpha_over_lambda,  // α_t/λ_t: y and z contract at the same pace
  theory,             // 1/(2 λ_t L_g1), the limit of Theorems 1–3; half of the above when α = 1/L_g1
  schedule,           // the option `beta` as it stands (Theorem 4: 1/(2 λ_1 L_g1 t^b))
};
template <>
struct EnumNames<BetaRule> {
  static constexpr std::array<std::pair<BetaRule, std::string_view>, 3> values{
      {{BetaRule::alpha_over_lambda, "alpha/lambda"}, {BetaRule::theory, "theory"}, {BetaRule::schedule, "schedule"}}};
};

// Where y and z start in a new round.
enum class WarmStart : std::uint8_t {
  separate,  // the paper: both carry over
  tied,      // y ← z when the round's update begins
  dual,      // z and w = λ(y − z) carry over: when λ changes, w is kept and y = z + w/λ moves
};
template <>
struct EnumNames<WarmStart> {
  static constexpr std::array<std::pair<WarmStart, std::string_view>, 3> values{
      {{WarmStart::separate, "separate"}, {WarmStart::tied, "tied"}, {WarmStart::dual, "dual"}}};
};

// How the inner problems are solved.
enum class InnerSolver : std::uint8_t {
  gd,            // the paper
  nesterov,      // momentum k/(k + 3), restarted every round
  backtracking,  // one step size for all copies, halved while a gradient changes by more than itself: needs no constant
};
template <>
struct EnumNames<InnerSolver> {
  static constexpr std::array<std::pair<InnerSolver, std::string_view>, 3> values{
      {{InnerSolver::gd, "gd"}, {InnerSolver::nesterov, "nesterov"}, {InnerSolver::backtracking, "backtracking"}}};
};

// How λ grows.
enum class LambdaRule : std::uint8_t {
  power,    // the paper: λ_t = λ_1 t^τ
  balance,  // the penalty's bias and the amplified inner error are of the same size; never above the power
};
template <>
struct EnumNames<LambdaRule> {
  static constexpr std::array<std::pair<LambdaRule, std::string_view>, 2> values{
      {{LambdaRule::power, "power"}, {LambdaRule::balance, "balance"}}};
};

// The options that every algorithm of the family has, as members of its flat options struct:
//   Schedule alpha, gamma, beta; BetaRule beta_rule; double lambda1; std::optional<double> L_g1.
// Flat, so that designated initialisers reach them: F2obo({.alpha = 0.1, .lambda1 = 5}, set). Options beyond the
// paper's are described where the struct has them.
template <class Options, class V>
void describe_penalty(Options& o, V&& v) {
  v("alpha", o.alpha, "step size of z, α_t", Range::positive());
  v("gamma", o.gamma, "outer step size, γ_t", Range::outer_step());
  v("lambda1", o.lambda1, "first multiplier; theory asks for λ_1 > 2 L_f1/μ_g", Range::positive());
  if constexpr (requires { o.tau; }) v("tau", o.tau, "growth of the multiplier: λ_t = λ_1 t^τ", Range::at_least(0.0));
  if constexpr (requires { o.increment; })
    v("increment", o.increment, "growth of the multiplier: λ_{t+1} = λ_t + δ_t", Range::at_least(0.0));
  v("beta_rule", o.beta_rule, "step size of y, β_t: α_t/λ_t, or 1/(2 λ_t L_g1), or the option `beta`");
  v("beta", o.beta, "β_t when beta_rule = \"schedule\"", Range::positive());
  v("L_g1", o.L_g1,
    "Lipschitz constant of ∇g for beta_rule = \"theory\"; unset: in configs the problem's own, else 1/α_1",
    Range::positive());
  if constexpr (requires { o.warm_start; })
    v("warm_start", o.warm_start,
      "separate: y and z carry over (the paper); tied: y ← z each round; dual: keep λ(y − z)");
}

// Our additions to the paper's three algorithms.
template <class Options, class V>
void describe_extensions(Options& o, V&& v) {
  v("order", o.order, "p, order of the penalty: bias O(λ^−p); 1 is the paper's", Range::between(1, 5));
  v("inner_solver", o.inner_solver,
    "gd (the paper), nesterov, or backtracking, which starts from α_1 and needs no Lipschitz constant");
  v("lambda_rule", o.lambda_rule, "power: λ_1 t^τ; balance: the bias against the inner error, at most λ_1 t^τ");
  v("balance", o.balance, "weight of the bias under lambda_rule = \"balance\"", Range::positive());
  o.inner.describe(v);
  o.outer.describe(v);
}

// λ_{t+1} = (1 + 1/t)^τ λ_t telescopes to this.
template <class Options>
[[nodiscard]] double lambda_at(const Options& o, Round t) {
  return o.lambda1 * std::pow(static_cast<double>(t), o.tau);
}

template <class Options>
[[nodiscard]] double beta_at(const Options& o, Round t, double lambda) {
  switch (o.beta_rule) {
    case BetaRule::alpha_over_lambda: return o.alpha(t) / lambda;
    case BetaRule::theory: return 1.0 / (2.0 * lambda * o.L_g1.value_or(1.0 / o.alpha(1)));
    case BetaRule::schedule: break;
  }
  return o.beta(t);
}
template <class Options>
[[nodiscard]] double beta_at(const Options& o, Round t) {
  return beta_at(o, t, lambda_at(o, t));
}

// Options with an order have `inner_solver` too. An adaptive method, Algorithm 2, ends its inner loops at tolerances.
template <class Options>
inline constexpr bool has_order = requires(Options o) { o.order; };
template <class Options>
inline constexpr bool is_adaptive = requires(Options o) { o.delta_y; };

// The numbers of one round, read off the options.
struct PenaltyRound {
  double alpha, beta, gamma, lambda;
  template <class Options>
  PenaltyRound(const Options& o, Round t, double lambda_t)
      : alpha(o.alpha(t)), beta(beta_at(o, t, lambda_t)), gamma(o.gamma(t)), lambda(lambda_t) {}
};

}  // namespace obolus
