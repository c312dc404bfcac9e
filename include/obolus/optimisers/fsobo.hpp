// FSOBO (Jia, Wang, Chen 2026), the fully single-loop method: y ← y − α g_y;  v ← v − η (g_yy v − f_y) at the new y;
// d = f_x − g_xy v;  x-step. A round costs one call of each kind: g_y, f_y, f_x, g_yy v, g_xy v.
//
// Reconstructed from the F²OBO paper's account (Table 1 forces one query of each kind per round). Our choices: the
// order y, v, x; η = α unless given; the projection |v| ≤ radius is off unless given (theory: L_f0/μ_g).
#pragma once

#include "obolus/optimisers/implicit.hpp"

namespace obolus {

struct FsoboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  std::optional<Schedule> v_step = {};
  std::optional<double> radius = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("v_step", v_step, "step size of v; unset: α_t", Range::positive());
    v("radius", radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
    inner.describe(v);
    outer.describe(v);
  }
};

class Fsobo : public ImplicitOptimiser<FsoboOptions> {
 public:
  static constexpr OptimiserInfo info{"fsobo", "FSOBO: one step of y, v and x per round",
                                      "Jia, Wang, Chen 2026; steps reconstructed from Table 1 of the F²OBO paper",
                                      /*needs_hvp=*/true};
  using ImplicitOptimiser::ImplicitOptimiser;

  template <HvpOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    Step report{.inner_iterations = 1, .steps_y = 1};
    descend(p, s, options_.alpha(s.t));
    hypergradient(p, s, {SystemSolver::gd, 1, options_.v_step.value_or(options_.alpha)(s.t), 0.0, options_.radius},
                  report, s.direction);
    return outer_update(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
