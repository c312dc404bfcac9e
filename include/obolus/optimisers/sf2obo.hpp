// SF²OBO, Algorithm 3: F²OBO with samples.
//
// Each inner iteration draws ξ, ζ of size B_t and uses the SAME ζ for the step of y and of z; the outer step draws ξ, ζ
// of size B̂_t and uses the SAME ζ in both ∇_x g terms. That is what keeps λ_t(∇_x g(y) − ∇_x g(z)) from carrying λ_t times
// the noise: y − z = O(1/λ).
// `samples = "fresh"` is the algorithm as written; `samples = "round"` draws one batch a round and reuses it, as the
// paper's experiment does ("receives a dataset with batch size 256 at every time step").
#pragma once

#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/penalty_pair.hpp"

namespace obolus {

enum class Samples : std::uint8_t { round, fresh };
template <>
struct EnumNames<Samples> {
  static constexpr std::array<std::pair<Samples, std::string_view>, 2> values{
      {{Samples::round, "round"}, {Samples::fresh, "fresh"}}};
};

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

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("inner_steps", inner_steps, "K_t, steps of y and z a round; theory: 4κ_g t^max(b−τ, a) log t", Range::count());
    v("samples", samples, "round: one batch a round, reused; fresh: new draws for every step (Algorithm 3)");
    v("batch", batch, "B_t, samples of an inner step (and of the round when samples = \"round\")", Range::count());
    v("outer_batch", outer_batch, "B̂_t, samples of the outer step when samples = \"fresh\"", Range::count());
  }
};

class Sf2obo : public PenaltyOptimiser<Sf2oboOptions> {
 public:
  static constexpr OptimiserInfo info{"sf2obo", "SF²OBO: stochastic gradients",
                                      "F²OBO paper, Algorithm 3 and Theorem 4",
                                      /*needs_hvp=*/false, /*stochastic=*/true};
  using PenaltyOptimiser::PenaltyOptimiser;

  template <StochasticOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    const PenaltyRound r = begin_round(p, s);
    const bool fresh = options_.samples == Samples::fresh;
    const std::int64_t iterations = options_.inner_steps.count(s.t);
    const std::int64_t inner = options_.batch.count(s.t), outer = options_.outer_batch.count(s.t);
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
    if (!fresh) p.resample({inner, inner}, draws);
    for (std::int64_t k = 0; k < iterations; ++k) {
      if (fresh) p.resample({inner, inner}, draws);
      iterate(r, p, s);
    }
    if (fresh) p.resample({outer, outer}, draws);
    const Step report =
        finish_round(r, p, s, {.inner_iterations = iterations, .steps_y = iterations, .steps_z = iterations});
    p.expectation();
    return report;
  }
};

}  // namespace obolus
