// What the paper's three algorithms share: the multiplier λ_t, the step-size rules, the pair (y, z) with its warm
// starts, and the outer step. Each algorithm adds only its inner loop.
#pragma once

#include <cmath>
#include <optional>

#include "obolus/core/archive.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/schedule.hpp"
#include "obolus/core/status.hpp"

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

// How y and z meet a new round.
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

// The options that every algorithm of the family has, as members of its own (flat) options struct:
//   Schedule alpha, gamma, beta; BetaRule beta_rule; double lambda1, tau; std::optional<double> L_g1; WarmStart warm_start.
// Flat, so that designated initialisers reach them: F2obo({.alpha = 0.1, .lambda1 = 5}, set).
template <class Options, class V>
void describe_penalty(Options& o, V&& v) {
  v("alpha", o.alpha, "step size of z, α_t", Range::positive());
  v("gamma", o.gamma, "outer step size, γ_t", Range::positive());
  v("lambda1", o.lambda1, "first multiplier; theory wants λ_1 > 2 L_f1/μ_g", Range::positive());
  v("tau", o.tau, "growth of the multiplier: λ_t = λ_1 t^τ", Range::at_least(0.0));
  v("beta_rule", o.beta_rule, "step size of y, β_t: α_t/λ_t, or 1/(2 λ_t L_g1), or the option `beta`");
  v("beta", o.beta, "β_t when beta_rule = \"schedule\"", Range::positive());
  v("L_g1", o.L_g1,
    "Lipschitz constant of ∇g for beta_rule = \"theory\"; unset: in configs the problem's own, else 1/α_1",
    Range::positive());
  v("warm_start", o.warm_start,
    "separate: y and z carry over (the paper); tied: y ← z each round; dual: keep λ(y − z)");
}

// λ_{t+1} = (1 + 1/t)^τ λ_t telescopes to this exactly.
template <class Options>
[[nodiscard]] double lambda_at(const Options& o, Round t) {
  return o.lambda1 * std::pow(static_cast<double>(t), o.tau);
}

template <class Options>
[[nodiscard]] double beta_at(const Options& o, Round t) {
  switch (o.beta_rule) {
    case BetaRule::alpha_over_lambda: return o.alpha(t) / lambda_at(o, t);
    case BetaRule::theory: return 1.0 / (2.0 * lambda_at(o, t) * o.L_g1.value_or(1.0 / o.alpha(1)));
    case BetaRule::schedule: break;
  }
  return o.beta(t);
}

// Everything that changes from round to round, and the buffers of the inner primitives.
template <class P>
struct PenaltyState {
  using S = ScalarOf<P>;
  Round t = 0;          // rounds done
  double lambda = 1.0;  // λ of the last round
  Vector<S> x;          // committed for the round to come
  Vector<S> direction;  // d of the last round
  Inner<P> z;
  Inner<P> y;           // under `dual`: w = λ(y − z)
  Inner<P> previous;    // scratch of the adaptive dual loop
  InnerSpace<P> space;  // scratch

  PenaltyState(P& p, In<S> x0, In<S> y0)
      : x(x0), direction(Vector<S>::Zero(x0.size())), z(make(p, y0)), y(make(p, y0)), previous(make(p, y0)), space(p) {}

  void fields(Archive& a) {
    a("t", t), a("lambda", lambda), a("x", x), a("direction", direction), a("z", z), a("y", y);
  }

 private:
  static Inner<P> make(P& p, In<S> start) { return InnerSpace<P>(p).make(p, start); }
};

// Round-by-round numbers, read off the options once a round.
struct PenaltyRound {
  double alpha, beta, gamma, lambda;
  template <class Options>
  PenaltyRound(const Options& o, Round t)
      : alpha(o.alpha(t)), beta(beta_at(o, t)), gamma(o.gamma(t)), lambda(lambda_at(o, t)) {}
  [[nodiscard]] Penalty penalty() const { return {1.0, lambda}; }
  [[nodiscard]] DualStep dual() const { return {alpha, beta, lambda}; }
};

// The frame of Algorithms 1–3. An algorithm derives from it, names itself in `info` and writes `step`.
template <class OptionsType>
class PenaltyOptimiser {
 public:
  using Options = OptionsType;
  template <class P>
  using State = PenaltyState<P>;

  PenaltyOptimiser(Options options, ConvexSet set) : options_(std::move(options)), set_(std::move(set)) {
    validate(options_, "optimiser");
  }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const ConvexSet& set() const { return set_; }

  // x_1 is projected onto X; z_1 = y_1, hence w_1 = 0.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    set_.template project<ScalarOf<P>>(s.x);
    s.lambda = lambda_at(options_, 1);
    if (dual()) s.space.from_dense(p, Vector<ScalarOf<P>>::Zero(y0.size()), s.y);
    return s;
  }

  // The committed model y, densely; under `dual` it is z + w/λ with the λ of the round that made w.
  template <FirstOrderOracle P>
  void copy_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    if (!dual()) return s.space.to_dense(p, s.y, out);
    s.space.copy(p, s.z, s.previous);
    s.space.axpy(p, 1.0 / s.lambda, s.y, s.previous);
    s.space.to_dense(p, s.previous, out);
  }

 protected:
  [[nodiscard]] bool dual() const { return options_.warm_start == WarmStart::dual; }

  template <class P>
  [[nodiscard]] PenaltyRound begin_round(P& p, State<P>& s) const {
    ++s.t;
    if (options_.warm_start == WarmStart::tied) s.space.copy(p, s.z, s.y);
    return PenaltyRound(options_, s.t);
  }

  // One iteration of y and z together.
  template <class P>
  void iterate(const PenaltyRound& r, P& p, State<P>& s) const {
    if (dual()) s.space.descend_dual(p, s.x, s.z, s.y, r.dual());
    else s.space.descend_pair(p, s.x, s.y, s.z, r.beta, r.penalty(), r.alpha);
  }

  // d_t, then x_{t+1} = Proj_X(x_t − γ_t d_t).
  template <class P>
  Step finish_round(const PenaltyRound& r, P& p, State<P>& s, Step step) const {
    using S = ScalarOf<P>;
    s.lambda = step.lambda = r.lambda;
    step.gamma = r.gamma;
    if (step.status != Status::ok || !s.space.all_finite(p, s.y) || !s.space.all_finite(p, s.z)) {
      step.status = Status::non_finite_inner;
      return step;
    }
    if (dual()) s.space.dual_direction(p, s.x, s.z, s.y, r.lambda, s.direction);
    else s.space.penalty_direction(p, s.x, s.y, s.z, r.lambda, s.direction);
    if (!s.direction.allFinite()) {
      step.status = Status::non_finite_direction;
      return step;
    }
    s.x.noalias() -= S(r.gamma) * s.direction;
    set_.template project<S>(s.x);
    if (!s.x.allFinite()) step.status = Status::non_finite_outer;
    return step;
  }

  // Algorithm 1 with K inner iterations.
  template <class P>
  Step fixed_loop(P& p, State<P>& s, std::int64_t iterations) const {
    const PenaltyRound r = begin_round(p, s);
    for (std::int64_t k = 0; k < iterations; ++k) iterate(r, p, s);
    return finish_round(r, p, s, {.inner_iterations = iterations, .steps_y = iterations, .steps_z = iterations});
  }

  Options options_;
  ConvexSet set_;
};

}  // namespace obolus
