// What the paper's three algorithms, and F²SA after them, share: the multiplier λ_t, the rounds of the inner iterates,
// and the outer step. Each algorithm adds only its inner loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "obolus/optimisers/optimiser_base.hpp"
#include "obolus/optimisers/penalty_state.hpp"

namespace obolus {

// The base of Algorithms 1–3. An algorithm derives from it, names itself in `info` and writes `step`.
template <class OptionsType>
class PenaltyOptimiser : public OptimiserBase<OptionsType> {
 public:
  using Options = OptionsType;
  PenaltyOptimiser(Options options, ConvexSet set) : OptimiserBase<OptionsType>(std::move(options), std::move(set)) {
    if constexpr (has_order<OptionsType>) check_inner_steps();
  }
  template <class P>
  using State = PenaltyState<P, OptionsType>;

  // x_1 is projected onto X; z_1 = y_1, hence w_1 = 0.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0, options_);
    this->project_start(s);
    s.lambda = options_.lambda1;
    s.next_lambda = options_.lambda1;
    s.step = options_.alpha(1);
    return s;
  }

  // The committed model y, densely.
  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    std::visit([&](auto& form) { form.read_y(p, s.scratch, s.lambda, out); }, s.inner);
  }

  // The plain inner iterate; for even orders, the mean of y_1 and y_−1.
  template <FirstOrderOracle P>
  void read_z(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    std::visit([&](auto& form) { form.read_z(p, s.scratch, out); }, s.inner);
  }

 protected:
  using OptimiserBase<OptionsType>::options_;

  template <class P>
  [[nodiscard]] static PenaltyWork<P> work(const PenaltyRound& r, P& p, State<P>& s) {
    return {p, s.x, r, s.scratch, s.scratch.space, s.step};
  }

  template <class P>
  [[nodiscard]] PenaltyRound begin_round(P& p, State<P>& s) const {
    ++s.t;
    const PenaltyRound r(options_, s.t, multiplier(s));
    std::visit([&](auto& form) { form.warm_start(work(r, p, s), options_.warm_start, s.lambda); }, s.inner);
    return r;
  }

  // Iterations of all inner iterates together.
  template <class P>
  void descend(const PenaltyRound& r, P& p, State<P>& s, const Iterations& iterations) const {
    std::visit([&](auto& form) { form.descend(work(r, p, s), iterations); }, s.inner);
  }

  // d_t, then the outer step with γ_t.
  template <class P>
  Step finish_round(const PenaltyRound& r, P& p, State<P>& s, Step step) const {
    s.lambda = r.lambda;
    step.lambda = r.lambda;
    step.penalised = true;
    const auto finite = [&](auto& form) { return form.finite(p, s.scratch.space); };
    if (step.status != Status::ok || !std::visit(finite, s.inner)) step.status = Status::non_finite_inner;
    if (step.status == Status::ok) {
      std::visit([&](auto& form) { form.direction(work(r, p, s), s.direction); }, s.inner);
      s.next_lambda = next_multiplier(r, p, s);
    }
    return this->outer_update(r.gamma, s, step);
  }

  // Algorithm 1 with K inner iterations.
  template <class P>
  Step fixed_loop(P& p, State<P>& s, std::int64_t iterations) const {
    const PenaltyRound r = begin_round(p, s);
    descend(r, p, s, {iterations});
    return finish_round(r, p, s, {.inner_iterations = iterations, .steps_y = iterations, .steps_z = iterations});
  }

 private:
  void check_inner_steps() const {
    if (options_.inner.plain()) return;
    const std::string given = "inner_momentum = " + short_text(options_.inner.momentum) +
                              " and inner_weight_decay = " + short_text(options_.inner.weight_decay);
    if (options_.inner_solver != InnerSolver::gd)
      throw ConfigError("inner_solver: got \"" + std::string(name_of(options_.inner_solver)) + "\" with " + given +
                        ", expected \"gd\", or 0 for both: the other solvers choose their own momentum or steps");
    if (options_.lambda_rule == LambdaRule::balance && options_.inner.weight_decay != 0.0)
      throw ConfigError("lambda_rule: got \"balance\" with " + given +
                        ", expected \"power\", or no weight decay: the rule takes |g_y| for the inner error");
  }

  template <class P>
  [[nodiscard]] double multiplier(const State<P>& s) const {
    if constexpr (requires { options_.tau; }) {
      if constexpr (requires { options_.lambda_rule; })
        if (options_.lambda_rule == LambdaRule::balance) return s.next_lambda;
      return lambda_at(options_, s.t);
    } else {
      return s.next_lambda;
    }
  }

  template <class P>
  [[nodiscard]] double next_multiplier(const PenaltyRound& r, P& p, State<P>& s) const {
    if constexpr (requires { options_.increment; }) {
      return r.lambda + options_.increment(s.t);
    } else if constexpr (requires { options_.lambda_rule; }) {
      if (options_.lambda_rule == LambdaRule::balance) return balanced(r, p, s);
    }
    return r.lambda;
  }

  // With w = λ(y − z) the bias of w is of the order |w| λ^−p and its inner error λE, E = α|residual|: their sum is
  // smallest near λ = (|w|/E)^(1/(p+1)); the option `balance` stands for the constants of f and g.
  template <class P>
  [[nodiscard]] double balanced(const PenaltyRound& r, P& p, State<P>& s) const {
    const PenaltyWork<P> at = work(r, p, s);
    const double error = r.alpha * std::visit([&](auto& form) { return form.residual(at); }, s.inner);
    const double w = std::visit([&](auto& form) { return form.w_norm(at); }, s.inner);
    const double power = 1.0 / static_cast<double>(options_.order + 1);
    const double target =
        error > 0.0 ? std::pow(options_.balance * w / error, power) : std::numeric_limits<double>::infinity();
    const double max = lambda_at(options_, s.t + 1);
    return std::min(std::max(target, options_.lambda1), std::max(max, options_.lambda1));
  }
};

}  // namespace obolus
