#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/error.hpp"
#include "obolus/metrics/drift_detectors.hpp"

namespace obolus {

PageHinkley::PageHinkley(const PageHinkleyOptions& options) : o_(options) { validate(o_, "page_hinkley"); }

bool PageHinkley::add(double value) {
  if (!std::isfinite(value)) throw DataError(fmt::format("page_hinkley: got {}, expected a finite number", value));
  ++rows_;
  mean_ += (value - mean_) / static_cast<double>(rows_);
  up_ = std::max(0.0, o_.alpha * up_ + (value - mean_ - o_.delta));
  down_ = std::max(0.0, o_.alpha * down_ + (mean_ - value - o_.delta));
  if (rows_ < o_.min_rows) return false;
  const bool rose = o_.direction != DriftDirection::down && up_ > o_.lambda;
  const bool fell = o_.direction != DriftDirection::up && down_ > o_.lambda;
  if (!rose && !fell) return false;
  rows_ = 0;
  mean_ = up_ = down_ = 0.0;
  return true;
}

}  // namespace obolus
