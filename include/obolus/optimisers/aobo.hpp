// AOBO (Jia, Wang, Chen 2026): while |g_y| > δ: y ← y − α g_y; Q steps on g_yy v = f_y from the last v;
// d = f_x − g_xy v; x-step. n steps of y cost n + 1 gradients; CG costs Q + 1 products (one for the first residual),
// gradient steps cost Q.
//
// Reconstructed from the F²OBO paper's account (δ = 0.1, Q = 5 there; theory: δ = O(T^(−1/2)), Q = O(κ log T)). Our
// choices: CG for the system, v warm, a cap on the loop.
#pragma once

#include "obolus/optimisers/implicit.hpp"

namespace obolus {

struct AoboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule delta = 0.1;
  std::int64_t max_inner = 10'000;
  Schedule system_steps = 5.0;
  SystemSolver system_solver = SystemSolver::cg;
  std::optional<Schedule> v_step = {};
  double damping = 0.0;
  std::optional<double> radius = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("delta", delta, "y's loop stops at |∇_y g| ≤ δ_t; theory: T^(−1/2)", Range::positive());
    v("max_inner", max_inner, "maximum number of steps of y per round; reaching it is reported", Range::at_least(1.0));
    describe_system(*this, v);
    inner.describe(v);
    outer.describe(v);
  }
};

class Aobo : public ImplicitOptimiser<AoboOptions> {
 public:
  static constexpr OptimiserInfo info{"aobo", "AOBO: inner loop to a tolerance, then a linear system",
                                      "Jia, Wang, Chen 2026; steps reconstructed from the F²OBO paper",
                                      /*needs_hvp=*/true};
  using ImplicitOptimiser::ImplicitOptimiser;

  template <HvpOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const Until until{options_.delta(s.t), options_.max_inner};
    const LoopResult loop = descend_until(p, s, options_.alpha(s.t), until);
    Step report{.inner_iterations = loop.steps, .steps_y = loop.steps, .capped = !loop.reached(until)};
    if (!std::isfinite(loop.norm)) report.status = Status::non_finite_inner;
    else hypergradient(p, s, system(s.t), report, s.direction);
    return outer_update(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
