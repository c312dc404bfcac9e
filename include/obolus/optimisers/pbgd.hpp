// PBGD (Shen, Chen, ICML 2023): a joint step of (x, y) on f + λ(g − g(x, ŷ)), ŷ near y*(x) by K steps on g(x, ·):
//     y⁺ = y − y_step (f_y + λ g_y)(x, y),   d = f_x(x, y) + λ(g_x(x, y) − g_x(x, ŷ)),   both at the old y;   x-step.
// A round costs K + 1 g_y, one f_y, one f_x and two g_x.
//
// Sourced: the joint step and the constant λ. Ours: ŷ carries over from round to round (ŷ_1 = y_1), a step of y of its
// own (unset: γ, the paper's) and λ_t = λ_1 t^τ. The step of y is stable below 2/(L_f1 + λ L_g1).
#pragma once

#include "obolus/optimisers/penalty_options.hpp"
#include "obolus/optimisers/value_gap.hpp"

namespace obolus {

struct PbgdOptions {
  Schedule alpha = 0.1;
  Schedule inner_steps = 5.0;
  Schedule gamma = 0.01;
  std::optional<Schedule> y_step = {};
  double lambda1 = 10.0;
  double tau = 0.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of ŷ, α_t", Range::positive());
    v("inner_steps", inner_steps, "K_t, steps of ŷ per round", Range::count());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("y_step", y_step, "step size of y; unset: γ_t", Range::positive());
    v("lambda1", lambda1, "first multiplier", Range::positive());
    v("tau", tau, "growth of the multiplier: λ_t = λ_1 t^τ", Range::at_least(0.0));
    outer.describe(v);
  }
};

class Pbgd : public ValueGapOptimiser<PbgdOptions> {
 public:
  static constexpr OptimiserInfo info{"pbgd", "PBGD: a joint step on the penalised value gap", "Shen, Chen, ICML 2023"};
  using ValueGapOptimiser::ValueGapOptimiser;

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const double lambda = lambda_at(options_, s.t);
    Step report = descend_z<P>(p, s);
    report.lambda = lambda;
    if (report.status == Status::ok) {
      s.space.penalty_direction(p, s.x, s.y, s.z, lambda, s.direction);
      s.space.descend_penalised(p, s.x, s.y, y_step(s.t), {1.0, lambda});
      if (!s.space.all_finite(p, s.y)) report.status = Status::non_finite_inner;
    }
    return outer_update(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
