// A step of Adam for the penalty of every feature, at the cost of a few numbers per feature.
//
// The first-order step in its single-loop form, y tied to z: y = z − β ∇f(z) gives
//     d_i = λ (∂g/∂x_i(y) − ∂g/∂x_i(z)) → −α <z_i, ∇_i f>  (λβ = α, λ → ∞),
// which is 0 but for features of the newest rows. These alone move: Adam on ln ratio_i, x_i = ratio_i l2, with a pull
// ρ to 0, where the ratio is 1; l2, the level of all, is tuned by itself. Moments count a feature's own rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

struct FeatureAdamOptions {
  double step = 0.1, shrinkage = 0.02;
  // Steps are longer in a feature's first rounds, and shorter in the first rounds of all, × t/(t +
  // halfway).
  double first = 3.0, later = 0.5, halfway = 100.0;
  double decay = 0.5, decay2 = 0.99;
  double max_log_ratio = 7;  // of |ln ratio|
};

class FeatureAdam {
 public:
  explicit FeatureAdam(const FeatureAdamOptions& options) : options_(options) {}

  void grow(std::int64_t slots) { feature_.resize(to_size(slots)); }

  void prefetch(std::int64_t slot) const { __builtin_prefetch(&feature_[to_size(slot)], 1); }

  // The ratio after a step down this slope in round t of all.
  float move(std::int64_t slot, float slope, std::int64_t t) {
    Feature& f = feature_[to_size(slot)];
    if (!std::isfinite(slope) || slope == 0) return std::exp(f.place);
    f.mean = b1() * f.mean + (1 - b1()) * slope;
    const auto root = static_cast<double>(f.root), s = static_cast<double>(slope);  // a float has no room for squares
    f.root = static_cast<float>(std::sqrt(options_.decay2 * root * root + (1 - options_.decay2) * s * s));
    f.part1 = b1() * f.part1 + (1 - b1());
    f.part2 = b2() * f.part2 + (1 - b2());
    const float along = f.mean / f.part1 * std::sqrt(f.part2) / (f.root + std::numeric_limits<float>::min());
    f.rounds = std::min(f.rounds + 1, 1 << 30);
    const auto pull = static_cast<float>(options_.shrinkage), max = static_cast<float>(options_.max_log_ratio);
    const auto step = static_cast<float>(length(f.rounds, t) * options_.step);
    f.place = std::clamp((1 - pull) * f.place - step * along, -max, max);
    return std::exp(f.place);
  }

  void fields(Archive& a, std::int64_t slots) {
    saved(a, "penalties", feature_);
    const auto sound = [&](const Feature& f) {
      return std::abs(f.place) <= options_.max_log_ratio && std::isfinite(f.mean) && std::isfinite(f.root) &&
             f.root >= 0 && f.part1 >= 0 && f.part1 <= 1 && f.part2 >= 0 && f.part2 <= 1 && f.rounds >= 0;
    };
    if (static_cast<std::int64_t>(feature_.size()) != slots || !std::ranges::all_of(feature_, sound))
      throw DataError("saved state: the penalties do not fit the features");
  }

 private:
  // As it stands in checkpoints.
  struct Feature {
    float place = 0;             // ln ratio
    float mean = 0, root = 0;    // of the slopes, and of their mean square
    float part1 = 0, part2 = 0;  // 1 − b^n after n rounds
    std::int32_t rounds = 0;
  };
  [[nodiscard]] float b1() const { return static_cast<float>(options_.decay); }
  [[nodiscard]] float b2() const { return static_cast<float>(options_.decay2); }
  [[nodiscard]] double length(std::int32_t rounds, std::int64_t t) const {
    const auto all = static_cast<double>(t), own = static_cast<double>(rounds);
    const auto& o = options_;
    return all / (all + o.halfway) * (o.later + (o.first - o.later) / (1 + own / o.halfway));
  }

  FeatureAdamOptions options_;
  std::vector<Feature> feature_;
};

}  // namespace obolus::fit
