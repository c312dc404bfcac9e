// SF²OBO, Algorithm 3: F²OBO with samples.
//
// Each inner iteration draws ξ, ζ of size B_t and uses the SAME ζ for the step of y and of z; the outer step draws ξ, ζ
// of size B̂_t and uses the SAME ζ in both ∇_x g terms. Hence λ_t(∇_x g(y) − ∇_x g(z)) does not carry λ_t times the
// noise: y − z = O(1/λ).
// `samples = "fresh"` is the algorithm as written; `samples = "round"` draws one batch per round and reuses it, as the
// paper's experiment does ("receives a dataset with batch size 256 at every time step"); `samples = "given"` draws
// nothing, for rounds that are batches themselves: it is F²OBO.
#pragma once

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/sampled_penalty.hpp"

namespace obolus {

struct Sf2oboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  double lambda1 = 5.0;
  double tau = 1.0 / 6.0;
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  WarmStart warm_start = WarmStart::separate;
  Schedule inner_steps = 5.0;
  Samples samples = Samples::round;
  Schedule batch = 256.0;
  Schedule outer_batch = 256.0;
  std::int64_t order = 1;
  InnerSolver inner_solver = InnerSolver::gd;
  LambdaRule lambda_rule = LambdaRule::power;
  double balance = 1.0;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("inner_steps", inner_steps, "K_t, steps of y and z per round; theory: 4κ_g t^max(b−τ, a) log t", Range::count());
    describe_samples(*this, v);
    describe_extensions(*this, v);
  }
};

class Sf2obo : public SampledPenaltyOptimiser<Sf2oboOptions> {
 public:
  static constexpr OptimiserInfo info{"sf2obo", "SF²OBO: stochastic gradients",
                                      "F²OBO paper, Algorithm 3 and Theorem 4",
                                      /*needs_hvp=*/false, /*stochastic=*/true};
  using SampledPenaltyOptimiser::SampledPenaltyOptimiser;

  template <StochasticOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    return sampled_loop(p, s, rng);
  }
};

}  // namespace obolus
