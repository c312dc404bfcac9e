// AF²OBO, Algorithm 2: inner loops that run to a tolerance, so that the regret is free of H_2T (Theorem 3).
//
//     while |∇_y g_t(x_t, z)| > δ_z: z-step;   while |∇_y f_t + λ_t ∇_y g_t|(x_t, y) > δ_y: y-step;
// then F²OBO's outer step. Theory: δ_y = T^(−1/2), δ_z = T^(−(1+2τ)/2). (The paper's §5 writes y for z in δ_z.)
// A loop stops after `max_inner` steps and reports that it did. A loop of n steps costs n + 1 gradients.
#pragma once

#include <cmath>
#include <variant>

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/penalty_optimiser.hpp"

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
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("delta_y", delta_y, "y's loop stops at |∇_y f + λ_t ∇_y g| ≤ δ_y; theory: T^(−1/2), without a horizon t^(−1/2)",
      Range::positive());
    v("delta_z", delta_z, "z's loop stops at |∇_y g| ≤ δ_z; theory: T^(−(1+2τ)/2)", Range::positive());
    v("max_inner", max_inner, "maximum number of steps of either loop per round; reaching it is reported",
      Range::at_least(1.0));
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
    const Tolerances until{.y = {options_.delta_y(s.t), options_.max_inner},
                           .z = {options_.delta_z(s.t), options_.max_inner}};
    const Step loops = std::visit([&](auto& form) { return run_loops(work(r, p, s), form, until); }, s.inner);
    return finish_round(r, p, s, loops);
  }

 private:
  struct Tolerances {
    Until y, z;
  };

  // A NaN gradient ends a loop at once and leaves the iterate finite: only the residual shows it.
  static void add(Step& step, const LoopResult& loop, const Until& until, std::int64_t& counter) {
    counter += loop.steps;
    step.inner_iterations += loop.steps;
    step.capped = step.capped || !loop.reached(until);
    if (!std::isfinite(loop.norm)) step.status = Status::non_finite_inner;
  }

  template <class P>
  static Step run_loops(const PenaltyWork<P>& at, PlainPair<P>& pair, const Tolerances& until) {
    Step step;
    const PenaltyRound& r = at.round;
    add(step, at.space.descend_until(at.p, at.x, pair.z, r.alpha, until.z), until.z, step.steps_z);
    const Penalty penalty{1.0, r.lambda};
    add(step, at.space.descend_penalised_until(at.p, at.x, pair.y, r.beta, penalty, until.y), until.y, step.steps_y);
    return step;
  }

  template <class P>
  static Step run_loops(const PenaltyWork<P>& at, DualPair<P>& pair, const Tolerances& until) {
    Step step;
    const PenaltyRound& r = at.round;
    Inner<P>& old_z = at.scratch.point;
    at.space.copy(at.p, pair.base, old_z);
    add(step, at.space.descend_until(at.p, at.x, pair.base, r.alpha, until.z), until.z, step.steps_z);
    // y = z + w/λ stays where it is while z moves
    at.space.axpy(at.p, r.lambda, old_z, pair.w);
    at.space.axpy(at.p, -r.lambda, pair.base, pair.w);
    const DualStep sizes{r.alpha, r.beta, r.lambda};
    add(step, at.space.descend_dual_until(at.p, at.x, pair.base, pair.w, sizes, until.y), until.y, step.steps_y);
    return step;
  }

  template <class P>
  static Step run_loops(const PenaltyWork<P>& at, StencilIterates<P>& iterates, const Tolerances& until) {
    Step step;
    StencilLoops<P> loops = iterates.loops(at);
    for (StencilIterate<P>& c : iterates.all()) {
      const Until& end = c.j == 0 ? until.z : until.y;
      add(step, loops.until(c, end), end, c.j == 0 ? step.steps_z : step.steps_y);
    }
    return step;
  }
};

}  // namespace obolus
