// One L2 for all features, or one for each group of them: hyperparameters like others, whose derivatives the decay
// carries along.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fit/penalties/penalties.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class SharedPenalties final : public Penalties<S> {
 public:
  [[nodiscard]] bool per_feature() const override { return false; }

  void decay_after_steps(const DecayTime& d, Weights<S>& weights) override {
    slopes_.assign(to_size(weights.parts()), 0.0);
    for (int g = 0; g < weights.groups(); ++g) {
      constexpr double max = 40;  // nothing is left then, and what is pushed over ρ still fits a float
      const double time = std::min(d.steps_times_rate * d.hyper.value(Tunable::l2, 0.0, g), max), rho = std::exp(-time);
      std::size_t part = 0;
      for (const Hyperparameter& h : d.hyper.list) {
        if (!h.has_part()) continue;
        const double moves = h.kind == Tunable::rate ? d.free_part : h.kind == Tunable::l2 && h.index == g ? 1.0 : 0.0;
        slopes_[++part] = -moves * time * rho;
      }
      weights.decay_group(g, rho, slopes_);
    }
  }

 private:
  std::vector<double> slopes_;  // scratch
};

}  // namespace obolus::fit
