// F²OBO, Algorithm 1 of the paper, and its single-loop form.
//
// Per round, K_t times:   z ← z − α ∇_y g_t(x_t, z),   y ← y − β_t (∇_y f_t + λ_t ∇_y g_t)(x_t, y);
// then  d_t = ∇_x f_t(x_t, y) + λ_t (∇_x g_t(x_t, y) − ∇_x g_t(x_t, z)),   x ← Proj_X(x − γ_t d_t).
// A round costs 2K g_y, K f_y, 1 f_x, 2 g_x and no Hessian-vector product. Beyond the paper: `order` p (stencil.hpp;
// order 2 costs 2K g_y, 2K f_y, 2 f_x, 2 g_x), `inner_solver`, `lambda_rule`, `outer_step`.
#pragma once

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/penalty_optimiser.hpp"

namespace obolus {

struct F2oboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  double lambda1 = 5.0;
  double tau = 1.0;
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  WarmStart warm_start = WarmStart::separate;
  Schedule inner_steps = 5.0;
  std::int64_t order = 1;
  InnerSolver inner_solver = InnerSolver::gd;
  LambdaRule lambda_rule = LambdaRule::power;
  double balance = 1.0;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("inner_steps", inner_steps, "K_t, steps of y and z per round", Range::count());
    describe_extensions(*this, v);
  }
};

class F2obo : public PenaltyOptimiser<F2oboOptions> {
 public:
  static constexpr OptimiserInfo info{"f2obo", "F²OBO: fully first-order online bilevel optimiser",
                                      "F²OBO paper, Algorithm 1 and Theorem 1"};
  using PenaltyOptimiser::PenaltyOptimiser;

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    return fixed_loop(p, s, options_.inner_steps.count(s.t + 1));
  }
};

// τ and γ_t ∝ t^−τ as in Theorem 2 with τ = 1/3. A plain number for `gamma` is a constant step, as in the paper's runs.
struct F2oboSingleLoopOptions {
  Schedule alpha = 0.1;
  Schedule gamma = Schedule(0.01, -1.0 / 3.0);
  double lambda1 = 5.0;
  double tau = 1.0 / 3.0;
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  WarmStart warm_start = WarmStart::separate;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    inner.describe(v);
    outer.describe(v);
  }
};

class F2oboSingleLoop : public PenaltyOptimiser<F2oboSingleLoopOptions> {
 public:
  static constexpr OptimiserInfo info{"f2obo_sl", "F²OBO-SL: the single-loop form, one inner step per round",
                                      "F²OBO paper, Algorithm 1 with K_t = 1 and Theorem 2"};
  using PenaltyOptimiser::PenaltyOptimiser;

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    return fixed_loop(p, s, 1);
  }
};

}  // namespace obolus
