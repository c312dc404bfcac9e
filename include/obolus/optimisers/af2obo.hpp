// AF²OBO, Algorithm 2: inner loops that run until a tolerance, so that the regret is free of H_2T (Theorem 3).
//
// while |∇_y g_t(x_t, z)| > δ_z: z-step;   while |∇_y f_t + λ_t ∇_y g_t|(x_t, y) > δ_y: y-step;   then F²OBO's outer step.
// Theory: δ_y = T^(−1/2), δ_z = T^(−(1+2τ)/2). (The display of δ_z in the paper's §5 writes y where z is meant.)
// Each loop stops after `max_inner` steps at the latest and says so. A loop of n steps costs n + 1 gradients.
#pragma once

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/penalty_pair.hpp"

namespace obolus {

struct Af2oboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  double lambda1 = 5.0;
  double tau = 0.5;
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  WarmStart warm_start = WarmStart::separate;
  double delta_y = 1e-2;
  double delta_z = 1e-4;
  std::int64_t max_inner = 10'000;

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("delta_y", delta_y, "y's loop stops at |∇_y f + λ_t ∇_y g| ≤ δ_y; theory: T^(−1/2)", Range::positive());
    v("delta_z", delta_z, "z's loop stops at |∇_y g| ≤ δ_z; theory: T^(−(1+2τ)/2)", Range::positive());
    v("max_inner", max_inner, "most steps of either loop in a round; reaching it is reported", Range::at_least(1.0));
  }
};

class Af2obo : public PenaltyOptimiser<Af2oboOptions> {
 public:
  static constexpr OptimiserInfo info{"af2obo", "AF²OBO: adaptive inner iterations",
                                      "F²OBO paper, Algorithm 2 and Theorem 3"};
  using PenaltyOptimiser::PenaltyOptimiser;

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    const PenaltyRound r = begin_round(p, s);
    const Until until_z{options_.delta_z, options_.max_inner}, until_y{options_.delta_y, options_.max_inner};
    if (dual()) s.space.copy(p, s.z, s.previous);
    const LoopResult z = s.space.descend_until(p, s.x, s.z, r.alpha, until_z);
    if (dual()) {  // y = z + w/λ stays where it is while z moves
      s.space.axpy(p, r.lambda, s.previous, s.y);
      s.space.axpy(p, -r.lambda, s.z, s.y);
    }
    const LoopResult y = dual() ? s.space.descend_dual_until(p, s.x, s.z, s.y, r.dual(), until_y)
                                : s.space.descend_penalised_until(p, s.x, s.y, r.beta, r.penalty(), until_y);
    // A NaN ends a loop at once and would leave the iterate finite: the residuals tell.
    const bool finite = std::isfinite(z.norm) && std::isfinite(y.norm);
    return finish_round(r, p, s,
                        {.status = finite ? Status::ok : Status::non_finite_inner,
                         .inner_iterations = z.steps + y.steps,
                         .steps_y = y.steps,
                         .steps_z = z.steps,
                         .capped = !z.reached(until_z) || !y.reached(until_y)});
  }
};

}  // namespace obolus
