// What is known of numeric targets: a mean, from which the weights predict differences, and the range of all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"

namespace obolus::fit {

class Targets {
 public:
  void see(double target) {
    ++count_;
    mean_ += (target - mean_) / static_cast<double>(count_);
    low_ = std::min(low_, target);
    high_ = std::max(high_, target);
  }

  [[nodiscard]] bool known() const { return count_ > 0; }
  [[nodiscard]] double offset() const { return offset_; }
  // The offset becomes the mean so far if the targets have doubled in number since it last did; by how much it grew.
  double settle() {
    if (count_ == 0 || count_ < 2 * settled_) return 0;
    settled_ = count_;
    const double before = std::exchange(offset_, mean_);
    return offset_ - before;
  }

  // Within the range so far and a margin of half of it on either side.
  [[nodiscard]] double within_range(double prediction) const {
    if (!known()) return prediction;
    const double margin = 0.5 * (high_ - low_);
    return std::isnan(prediction) ? offset_ : std::clamp(prediction, low_ - margin, high_ + margin);
  }

  void fields(Archive& a) {
    a("count", count_);
    a("settled", settled_);
    a("mean", mean_);
    a("offset", offset_);
    a("low", low_);
    a("high", high_);
    const bool sound = count_ >= 0 && settled_ >= 0 && settled_ <= count_ && count_ < std::int64_t{1} << 53 &&
                       std::isfinite(mean_) && std::isfinite(offset_) && (count_ == 0 || low_ <= high_);
    if (a.loading() && !sound) throw DataError("saved state: the targets' numbers do not fit together");
  }

 private:
  std::int64_t count_ = 0, settled_ = 0;
  double mean_ = 0, offset_ = 0;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace obolus::fit
