// A penalty for every feature, moved by −<z_i, ∇_i f>, the slope of f by ln x_i but for a positive factor
// (feature_adam.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "fit/penalties/per_feature.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class FirstOrderPenalties final : public PerFeaturePenalties<S> {
 public:
  explicit FirstOrderPenalties(const FeatureAdamOptions& options) : adam_(options) {}

  [[nodiscard]] bool needs_residuals() const override { return true; }
  void grow(std::int64_t slots) override { adam_.grow(slots); }

  [[nodiscard]] bool move(const PenaltyRound<S>& round, Weights<S>& weights) override {
    if (round.residuals.empty()) return true;
    slope_.resize(to_size(weights.slots()));
    touched_.clear();
    const S* residual = round.residuals.data();
    for (const LearnerRow* row : round.outer) {
      for (const Entry& e : row->entries) {
        float& slope = slope_[to_size(e.slot)];
        if (slope == 0) {
          touched_.push_back(e.slot);
          adam_.prefetch(e.slot);
        }
        slope -= static_cast<float>(S(e.value) * weights.product(e.slot, residual));
      }
      residual += weights.product_width();
    }
    for (const std::int32_t slot : touched_) {
      float& slope = slope_[to_size(slot)];
      if (slope != 0) weights.set_decay_ratio(slot, adam_.move(slot, slope, round.round));
      slope = 0;
    }
    return true;
  }

  void fields(Archive& a, std::int64_t slots, int) override { adam_.fields(a, slots); }

 private:
  FeatureAdam adam_;
  std::vector<float> slope_;  // by slot; 0 but for the features of `touched_` while they move
  std::vector<std::int32_t> touched_;
};

}  // namespace obolus::fit
