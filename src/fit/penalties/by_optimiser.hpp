// A penalty for every feature, moved by a registered optimiser (optimised_penalties.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "fit/penalties/per_feature.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class PenaltiesByOptimiser final : public PerFeaturePenalties<S> {
 public:
  explicit PenaltiesByOptimiser(const OptimisedPenaltyOptions& options) : optimised_(options) {}

  [[nodiscard]] bool move(const PenaltyRound<S>& round, Weights<S>& weights) override {
    const OptimisedPenalties::Learnt learnt{round.round,
                                            weights.slots(),
                                            round.classes,
                                            round.hyper.value(Tunable::rate, 1.0),
                                            round.hyper.value(Tunable::l2, 0.0),
                                            round.curvature,
                                            round.hyper.value(Tunable::temperature, 1.0),
                                            round.scale,
                                            [&](std::int64_t i, int c) { return weights.value(i, 0, c); },
                                            [&](std::int64_t i) { return weights.decay_ratio(i); },
                                            [&](int c) { return static_cast<double>(weights.constant()[to_size(c)]); }};
    if (!optimised_.round(round.inner(), round.outer, learnt)) return false;
    const std::span<const float> ratios = optimised_.ratios();
    for (std::size_t i = 0; i < ratios.size(); ++i) weights.set_decay_ratio(static_cast<std::int64_t>(i), ratios[i]);
    return true;
  }

  void fields(Archive& a, std::int64_t slots, int classes) override { optimised_.fields(a, slots, classes); }

 private:
  OptimisedPenalties optimised_;
};

}  // namespace obolus::fit
