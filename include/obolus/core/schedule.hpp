// A number that depends on the round: scale · t^power (· ln t), clamped to [min, max].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "obolus/core/index.hpp"

namespace obolus {

struct Schedule {
  double scale = 1.0;
  double power = 0.0;
  bool log = false;  // multiply by ln t, as the paper's K_t = 4κ t^p log t
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  constexpr Schedule() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a schedule
  constexpr Schedule(double constant) : scale(constant) {}
  constexpr Schedule(double scale_, double power_) : scale(scale_), power(power_) {}

  [[nodiscard]] bool is_constant() const { return power == 0.0 && !log && scale >= min && scale <= max; }

  [[nodiscard]] double operator()(Round t) const {
    if (is_constant()) return scale;
    const double time = static_cast<double>(t);
    const double raw = scale * std::pow(time, power) * (log ? std::log(time) : 1.0);
    return std::clamp(raw, min, max);
  }

  // Counts (inner steps, batch sizes) round up and are at least one: K_1 = 4κ ln 1 would be 0.
  [[nodiscard]] std::int64_t count(Round t) const {
    const double value = std::ceil((*this)(t));
    return value >= 1.0 ? static_cast<std::int64_t>(std::min(value, 9e18)) : 1;
  }

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace obolus
