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
  Schedule delta_y = 1e-2;
  Schedule delta_z = 1e-4;
  std::int64_t max_inner = 10'000;
  std::int64_t order = 1;
  InnerSolver inner_solver = InnerSolver::gd;
  LambdaRule lambda_rule = LambdaRule::power;
  double balance = 1.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("delta_y", delta_y, "y's loop stops at |∇_y f + λ_t ∇_y g| ≤ δ_y; theory: T^(−1/2), without a horizon t^(−1/2)",
      Range::positive());
    v("delta_z", delta_z, "z's loop stops at |∇_y g| ≤ δ_z; theory: T^(−(1+2τ)/2)", Range::positive());
    v("max_inner", max_inner, "most steps of either loop in a round; reaching it is reported", Range::at_least(1.0));
    describe_extensions(*this, v);
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
    const Until until_z{options_.delta_z(s.t), options_.max_inner}, until_y{options_.delta_y(s.t), options_.max_inner};
    return finish_round(r, p, s,
                        paired() ? pair_loops(r, p, s, until_y, until_z) : copies_loops(r, p, s, until_y, until_z));
  }

 private:
  // A NaN ends a loop at once and would leave the iterate finite: the residuals tell.
  static void add(Step& step, const LoopResult& loop, const Until& until, std::int64_t& counter) {
    counter += loop.steps;
    step.inner_iterations += loop.steps;
    step.capped = step.capped || !loop.reached(until);
    if (!std::isfinite(loop.norm)) step.status = Status::non_finite_inner;
  }

  template <class P>
  Step pair_loops(const PenaltyRound& r, P& p, State<P>& s, Until until_y, Until until_z) const {
    Step step;
    if (dual()) s.space.copy(p, s.z, s.centre);
    add(step, s.space.descend_until(p, s.x, s.z, r.alpha, until_z), until_z, step.steps_z);
    if (dual()) {  // y = z + w/λ stays where it is while z moves
      s.space.axpy(p, r.lambda, s.centre, s.y);
      s.space.axpy(p, -r.lambda, s.z, s.y);
    }
    add(step,
        dual() ? s.space.descend_dual_until(p, s.x, s.z, s.y, {r.alpha, r.beta, r.lambda}, until_y)
               : s.space.descend_penalised_until(p, s.x, s.y, r.beta, {1.0, r.lambda}, until_y),
        until_y, step.steps_y);
    return step;
  }

  template <class P>
  Step copies_loops(const PenaltyRound& r, P& p, State<P>& s, Until until_y, Until until_z) const {
    Step step;
    auto loop = loops(p, s, r);
    for (PenaltyCopy<P>& c : s.copies) {
      const Until& until = c.j == 0 ? until_z : until_y;
      add(step, loop.until(options_.inner_solver, c, until), until, c.j == 0 ? step.steps_z : step.steps_y);
    }
    return step;
  }
};

}  // namespace obolus
