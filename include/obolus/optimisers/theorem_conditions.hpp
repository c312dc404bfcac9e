// The conditions of Theorems 1–4, one by one, for given options. A missing constant makes the conditions that need it
// fail. "Needed by the proof" marks what a theorem leaves out and its proof uses.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/knowledge.hpp"
#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/condition.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/optimisers/theorem_constants.hpp"

namespace obolus {

namespace theory {

[[nodiscard]] inline std::string text(double value) {
  if (std::isnan(value)) return "unknown";
  std::ostringstream s;
  s.precision(9);
  s << value;
  return s.str();
}

struct NamedConstant {
  std::string_view name;
  double Constants::* value;
  std::string_view assumption;
};
inline constexpr std::array<NamedConstant, 6> named_constants{{{"L_f0", &Constants::L_f0, "Assumption 1"},
                                                               {"L_f1", &Constants::L_f1, "Assumption 1"},
                                                               {"M", &Constants::M, "Assumption 1"},
                                                               {"L_g1", &Constants::L_g1, "Assumption 2"},
                                                               {"L_g2", &Constants::L_g2, "Assumption 2"},
                                                               {"mu_g", &Constants::mu_g, "Assumption 2"}}};

[[nodiscard]] inline bool is_given(const Constants& k, const NamedConstant& c) {
  const double value = k.*c.value;
  return std::isfinite(value) && (c.value == &Constants::mu_g ? value > 0 : value >= 0);
}

// A comparison that is not strict forgives 10⁻¹² of rounding: presets sit on their limits. A NaN fails.
class ConditionList {
 public:
  explicit ConditionList(std::string_view source) : source_(source) {}

  void cite(std::string_view source) { source_ = source; }
  void state(std::string_view name, bool holds, std::string detail) {
    list_.push_back({std::string(name) + " (" + std::string(source_) + ")", holds, std::move(detail)});
  }
  void above(std::string_view name, double a, double b) { state(name, a > b, text(a) + " > " + text(b)); }
  void below(std::string_view name, double a, double b) { state(name, a < b, text(a) + " < " + text(b)); }
  void at_least(std::string_view name, double a, double b) {
    state(name, a * (1 + slack) >= b, text(a) + " >= " + text(b));
  }
  void at_most(std::string_view name, double a, double b, std::string_view remark = {}) {
    state(name, a <= b * (1 + slack), text(a) + " <= " + text(b) + std::string(remark));
  }
  void equal(std::string_view name, double a, double b, std::string_view remark = {}) {
    state(name, std::abs(a - b) <= slack * std::abs(b), text(a) + " = " + text(b) + std::string(remark));
  }
  void same_throughout(std::string_view name, const Extremes& e) {
    state(name, e.max - e.min <= slack * std::abs(e.max), "from " + text(e.min) + " to " + text(e.max));
  }
  void between(std::string_view name, double value, double min, double max) {
    state(name, value > min && value < max, text(value) + " in (" + text(min) + ", " + text(max) + ")");
  }

  [[nodiscard]] std::vector<Condition> take() && { return std::move(list_); }

 private:
  static constexpr double slack = 1e-12;
  std::string_view source_;
  std::vector<Condition> list_;
};

inline void assumptions(ConditionList& list, const Constants& k, std::string_view theorem) {
  for (const NamedConstant& c : named_constants) {
    list.cite(c.assumption);
    const bool positive = c.value == &Constants::mu_g;
    list.state(std::string(c.name) + (positive ? " > 0" : " finite"), is_given(k, c),
               text(k.*c.value) + (k.region.empty() ? "" : "; " + k.region));
  }
  list.at_least("L_g1 >= mu_g", k.L_g1, k.mu_g);
  list.cite(theorem);
}

// Named only where an option leaves the paper: the theorems say nothing there.
template <class Options>
void beyond_the_paper(ConditionList& list, const Options& o) {
  const auto require = [&](std::string_view name, bool holds, std::string got) {
    if (!holds) list.state(name, false, std::move(got));
  };
  if constexpr (requires { o.order; }) {
    require("order = 1", o.order == 1, std::to_string(o.order));
    require("inner_solver = gd", o.inner_solver == InnerSolver::gd, std::string(name_of(o.inner_solver)));
    require("lambda_rule = power", o.lambda_rule == LambdaRule::power, std::string(name_of(o.lambda_rule)));
  }
  const Geometry geometry = o.outer.geometry;
  require("outer_step = euclidean", geometry == Geometry::euclidean, std::string(name_of(geometry)));
  require("shrinkage = 0", o.outer.shrinkage == 0.0, text(o.outer.shrinkage));
  require("outer_momentum = 0", o.outer.momentum == 0.0, text(o.outer.momentum));
  require("outer_weight_decay = 0", o.outer.weight_decay == 0.0, text(o.outer.weight_decay));
  require("inner_momentum = 0", o.inner.momentum == 0.0, text(o.inner.momentum));
  require("inner_weight_decay = 0", o.inner.weight_decay == 0.0, text(o.inner.weight_decay));
}

template <class Options>
void shared_conditions(ConditionList& list, const Options& o, const Constants& k, Round T) {
  list.above("lambda_1 > 2 L_f1/mu_g", o.lambda1, 2 * k.L_f1 / k.mu_g);
  list.at_most("alpha_t <= 1/L_g1", alpha_extremes(o, T).max, 1 / k.L_g1);
  list.state("warm_start = separate", o.warm_start == WarmStart::separate, std::string(name_of(o.warm_start)));
  beyond_the_paper(list, o);
}

template <class Options>
void beta_at_most(ConditionList& list, const Options& o, const Constants& k, Round T) {
  list.at_most("beta_t lambda_t <= 1/(2 L_g1)", beta_lambda_extremes(o, T).max, 1 / (2 * k.L_g1));
}

template <class Options>
Extremes constant_smooth_gamma(ConditionList& list, const Options& o, const Constants& k, Round T) {
  const Extremes gamma = gamma_extremes(o, T);
  list.same_throughout("gamma_t constant", gamma);
  list.at_most("gamma <= 1/(2 L_F)", gamma.max, smoothness_limit(k));
  return gamma;
}

// b of β_t ∝ t^−b; NaN when β_t is no power of t.
[[nodiscard]] inline double beta_exponent(const Sf2oboOptions& o) {
  if (o.beta_rule == BetaRule::theory) return o.tau;
  const Schedule& s = o.beta_rule == BetaRule::schedule ? o.beta : o.alpha;
  if (!is_power(s)) return std::nan("");
  return (o.beta_rule == BetaRule::schedule ? 0.0 : o.tau) - s.power;
}

// K_t against the theorem's schedule, up to the first round where they differ.
inline void stochastic_steps(ConditionList& list, const Sf2oboOptions& o, Schedule expected, Round T) {
  constexpr std::string_view name = "K_t = 4 kappa_g max{t^(b-tau), t^a} log t";
  if (!std::isfinite(expected.scale) || !std::isfinite(expected.power))
    return list.state(name, false,
                      "kappa_g = " + text(expected.scale / 4) + ", max{b-tau, a} = " + text(expected.power));
  expected.log = true;
  Round t = 1;
  while (t < T && o.inner_steps.count(t) == expected.count(t)) ++t;
  list.state(name, o.inner_steps.count(t) == expected.count(t),
             "K_" + std::to_string(t) + " = " + std::to_string(o.inner_steps.count(t)) + ", theorem " +
                 std::to_string(expected.count(t)));
}

inline void stochastic_schedules(ConditionList& list, const Sf2oboOptions& o, const Constants& k, Round T) {
  const double a = 0.0 - o.alpha.power, b = beta_exponent(o), scale = 1 / k.L_g1;
  const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::abs(y); };
  list.state("alpha_t = 1/(L_g1 t^a)", is_power(o.alpha) && near(o.alpha.scale, scale),
             "alpha_1 = " + text(o.alpha(1)) + ", 1/L_g1 = " + text(scale) + ", a = " + text(a));
  const double beta = scale / (2 * o.lambda1);
  list.state("beta_t = 1/(2 lambda_1 L_g1 t^b)", near(beta_at(o, 1), beta) && !std::isnan(b),
             "beta_1 = " + text(beta_at(o, 1)) + ", 1/(2 lambda_1 L_g1) = " + text(beta) + ", b = " + text(b));
  stochastic_steps(list, o, Schedule(4 * k.kappa(), std::max(b - o.tau, a)), T);
  const auto power = [](const Schedule& s) { return is_power(s) && s.scale == 1.0; };
  list.state("outer_batch = t^B1", power(o.outer_batch), text(o.outer_batch(1)) + " samples in round 1");
  list.state("batch = t^B2", power(o.batch), text(o.batch(1)) + " samples in round 1");
  list.state("samples = fresh", o.samples == Samples::fresh, std::string(name_of(o.samples)));
}

}  // namespace theory

// Theorem 1 holds for any c > 0; here c is the smallest with λ_t² ρ^K ≤ c, so that the condition on K with this c holds
// by itself and what remains of it is the limit of γ.
[[nodiscard]] inline std::vector<Condition> theorem_conditions(const F2oboOptions& o, const Constants& k, Round T) {
  using namespace theory;
  check_horizon(T);
  ConditionList list("Theorem 1");
  assumptions(list, k, "Theorem 1");
  list.above("tau > 0", o.tau, 0);
  shared_conditions(list, o, k, T);
  beta_at_most(list, o, k, T);
  const double gap = double_loop_gaps(o, k, T).both(), c = smallest_c(o, gap, T);
  const auto steps = [&](Round t) { return static_cast<double>(o.inner_steps.count(t)); };
  const Extremes K = extremes(T, o.inner_steps.is_monotone(), steps);
  list.same_throughout("K_t constant", K);
  list.at_least("K >= 1 - ln 2/ln rho", K.min, steps_to_contract(gap));
  const Extremes gamma = constant_smooth_gamma(list, o, k, T);
  list.at_most("gamma <= sqrt((1-rho)/C_lambda)/(16 kappa_g)", gamma.max, gamma_limit(k, gap, c),
               "; C_lambda = 84 c L_g1^2, c = lambda_T^2 rho^K = " + text(c) +
                   "; c = 1 takes K = " + text(std::ceil(steps_for_c(o, gap, T, 1.0))));
  return std::move(list).take();
}

[[nodiscard]] inline std::vector<Condition> theorem_conditions(const F2oboSingleLoopOptions& o, const Constants& k,
                                                               Round T) {
  using namespace theory;
  check_horizon(T);
  ConditionList list("Theorem 2");
  assumptions(list, k, "Theorem 2");
  list.between("tau in (0, 1/2)", o.tau, 0, 0.5);
  shared_conditions(list, o, k, T);
  const Extremes beta = beta_lambda_extremes(o, T);
  const double limit = 1 / (2 * k.L_g1);
  list.equal("beta_t lambda_t = 1/(2 L_g1)", beta.max > limit ? beta.max : beta.min, limit);
  list.below("gamma_t < 1/(2 L_F)", gamma_extremes(o, T).max, smoothness_limit(k));
  const double gap = single_loop_gaps(o, k, T).both(), C_g = SingleLoopConstants(k, alpha_extremes(o, T).min).C_g;
  list.below("gamma_t lambda_t < sqrt((1-rho)/(3 C_g))/8", gamma_lambda_extremes(o, T).max,
             single_loop_gamma_limit(1.0, gap, C_g));
  list.cite("needed by the proof of Theorem 2");
  list.at_least("lambda_1 >= 1", o.lambda1, 1);
  list.state("gamma_t never grows", o.gamma.power <= 0 && o.gamma.is_monotone(),
             "gamma_t ~ t^" + text(o.gamma.power) + (o.gamma.is_shaped() ? ", with a shape" : ""));
  return std::move(list).take();
}

[[nodiscard]] inline std::vector<Condition> theorem_conditions(const Af2oboOptions& o, const Constants& k, Round T) {
  using namespace theory;
  check_horizon(T);
  ConditionList list("Theorem 3");
  assumptions(list, k, "Theorem 3");
  list.above("tau > 0", o.tau, 0);
  shared_conditions(list, o, k, T);
  beta_at_most(list, o, k, T);
  constant_smooth_gamma(list, o, k, T);
  const double horizon = static_cast<double>(T);
  constexpr std::string_view remark = "; Theorem 3 sets it equal, and a smaller one keeps its bound of the regret";
  const double y = extremes(T, o.delta_y.is_monotone(), o.delta_y).max,
               z = extremes(T, o.delta_z.is_monotone(), o.delta_z).max;
  list.at_most("delta_y <= T^(-1/2)", y, std::pow(horizon, -0.5), remark);
  list.at_most("delta_z <= T^(-(1+2 tau)/2)", z, std::pow(horizon, -(1 + 2 * o.tau) / 2), remark);
  return std::move(list).take();
}

[[nodiscard]] inline std::vector<Condition> theorem_conditions(const Sf2oboOptions& o, const Constants& k, Round T) {
  using namespace theory;
  check_horizon(T);
  ConditionList list("Theorem 4");
  assumptions(list, k, "Theorem 4");
  list.between("tau in (0, 1/2)", o.tau, 0, 0.5);
  shared_conditions(list, o, k, T);
  stochastic_schedules(list, o, k, T);
  const Extremes gamma = constant_smooth_gamma(list, o, k, T);
  const StochasticConstants s(o, k, T);
  list.at_most("gamma <= sqrt((1-rho)/(7 c_lambda))/(48 kappa_g L_g1)", gamma.max,
               stochastic_gamma_limit(k, s.gap, s.c_lambda));
  list.cite("needed by the proof of Theorem 4");
  beta_at_most(list, o, k, T);
  list.at_least("lambda_1 >= 1", o.lambda1, 1);
  list.state("rho = 2 max{q_t, p_t}^K_t < 1 for t >= 2", s.gap > 0, "1 - rho = " + text(s.gap));
  list.at_most("gamma <= sqrt((1-rho)/(14 c_lambda))/(48 kappa_g L_g1)", gamma.max,
               stochastic_gamma_limit(k, s.gap, s.c_lambda, 14));
  return std::move(list).take();
}

}  // namespace obolus
