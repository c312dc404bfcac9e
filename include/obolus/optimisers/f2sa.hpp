// F²SA (Kwon et al., ICML 2023) online: SF²OBO's round with a multiplier that grows by increments, λ_{t+1} = λ_t + δ_t.
// On a static stream it is the offline method. A round costs 2K g_y, K f_y, one f_x and two g_x.
//
// Sourced: the steps. The source ties the step sizes together (α_k for y, ξα_k for x, γ_k for z, λ_k = γ_k/(2α_k));
// here each is an option, and the default δ_t ∝ t^(−2/3) gives the source's λ_t ∝ t^(1/3) for exact gradients.
#pragma once

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/sampled_penalty.hpp"

namespace obolus {

struct F2saOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  double lambda1 = 5.0;
  Schedule increment = Schedule(1.0, -2.0 / 3.0);
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  WarmStart warm_start = WarmStart::separate;
  Schedule inner_steps = 1.0;
  Samples samples = Samples::round;
  Schedule batch = 256.0;
  Schedule outer_batch = 256.0;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("inner_steps", inner_steps, "steps of y and z per round", Range::count());
    describe_samples(*this, v);
    inner.describe(v);
    outer.describe(v);
  }
};

class F2sa : public SampledPenaltyOptimiser<F2saOptions> {
 public:
  static constexpr OptimiserInfo info{"f2sa", "F²SA: first-order penalty with an additive multiplier",
                                      "Kwon et al., ICML 2023", /*needs_hvp=*/false, /*stochastic=*/true};
  using SampledPenaltyOptimiser::SampledPenaltyOptimiser;

  template <StochasticOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    return sampled_loop(p, s, rng);
  }
};

}  // namespace obolus
