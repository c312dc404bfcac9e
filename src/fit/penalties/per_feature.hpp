// What penalties of single features have in common: weights decay by the clock, after the steps.
#pragma once

#include <vector>

#include "fit/penalties/penalties.hpp"

namespace obolus::fit {

template <class S>
class PerFeaturePenalties : public Penalties<S> {
 public:
  [[nodiscard]] bool per_feature() const final { return true; }

  void decay_after_steps(const DecayTime& d, Weights<S>& weights) final {
    derivatives_.clear();
    std::int32_t part = 0;
    for (const Hyperparameter& h : d.hyper.list) {
      if (!h.has_part()) continue;
      ++part;
      if (h.kind == Tunable::rate) derivatives_.push_back({part, d.rate_memory});
      if (h.kind == Tunable::l2) derivatives_.push_back({part, d.l2_memory});
    }
    weights.decay_features(d.steps_times_rate * d.hyper.value(Tunable::l2, 0.0), derivatives_);
  }

 private:
  std::vector<DecayDerivative> derivatives_;  // scratch
};

}  // namespace obolus::fit
