// Penalty methods on samples: when they draw, and for what.
#pragma once

#include "obolus/core/samples.hpp"
#include "obolus/optimisers/penalty_optimiser.hpp"

namespace obolus {

// For options with: Samples samples; Schedule batch, outer_batch.
template <class Options, class V>
void describe_samples(Options& o, V&& v) {
  v("samples", o.samples,
    "round: one batch per round, reused; fresh: new draws for every step (Algorithm 3); given: none, the round's own");
  v("batch", o.batch, "B_t, samples of an inner step (and of the round when samples = \"round\")", Range::count());
  v("outer_batch", o.outer_batch, "B̂_t, samples of the outer step when samples = \"fresh\"", Range::count());
}

template <class OptionsType>
class SampledPenaltyOptimiser : public PenaltyOptimiser<OptionsType> {
 public:
  using PenaltyOptimiser<OptionsType>::PenaltyOptimiser;
  template <class P>
  using State = PenaltyState<P, OptionsType>;

 protected:
  // K_t inner iterations, each on the round's batch or on a draw of its own, the same for all inner iterates.
  template <StochasticOracle P>
  Step sampled_loop(P& p, State<P>& s, const Rng& rng) const {
    const PenaltyRound r = this->begin_round(p, s);
    const auto& o = this->options_;
    const bool fresh = o.samples == Samples::fresh;
    const std::int64_t iterations = o.inner_steps.count(s.t);
    const std::int64_t inner = o.batch.count(s.t), outer = o.outer_batch.count(s.t);
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
    if (o.samples == Samples::round) p.resample({inner, inner}, draws);
    if (!fresh) this->descend(r, p, s, {iterations});
    for (std::int64_t k = 0; fresh && k < iterations; ++k) {
      p.resample({inner, inner}, draws);
      this->descend(r, p, s, {1, k, fresh});
    }
    if (fresh) p.resample({outer, outer}, draws);
    const Step report =
        this->finish_round(r, p, s, {.inner_iterations = iterations, .steps_y = iterations, .steps_z = iterations});
    if (draws_any(o.samples)) p.expectation();
    return report;
  }
};

}  // namespace obolus
