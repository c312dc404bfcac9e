// A number that depends on the round:
//     scale_t · t^power (· ln t) · w_t · c_t, clamped to [min, max], and 0 before round `from`.
// scale_t is `scale` until a change sets another; w_t rises linearly to 1 over the first `warmup` rounds (from `from`
// on); c_t = floor + (1 − floor)(1 + cos(π min(t, N)/N))/2 with N = `cosine`. What is 0, or empty, is off.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "obolus/core/index.hpp"

namespace obolus {

// scale_t = value[i] from round at[i] on, `at` ascending. Inline, so that a schedule is copied without allocating.
struct ScaleChanges {
  static constexpr std::size_t capacity = 8;
  std::array<Round, capacity> at{};
  std::array<double, capacity> value{};
  std::size_t count = 0;

  // What does not fit is not added: false.
  constexpr bool add(Round from, double scale) {
    if (count == capacity) return false;
    at[count] = from;
    value[count++] = scale;
    return true;
  }
  friend bool operator==(const ScaleChanges&, const ScaleChanges&) = default;
};

struct Schedule {
  double scale = 1.0;
  double power = 0.0;
  bool log = false;  // multiply by ln t, as the paper's K_t = 4κ t^p log t
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  ScaleChanges changes = {};
  Round from = 0, warmup = 0, cosine = 0;
  double floor = 0.0;

  constexpr Schedule() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a schedule
  constexpr Schedule(double constant) : scale(constant) {}
  constexpr Schedule(double scale_, double power_) : scale(scale_), power(power_) {}

  // Has any of changes, from, warmup and cosine.
  [[nodiscard]] constexpr bool is_shaped() const {
    return changes.count != 0 || from != 0 || warmup != 0 || cosine != 0;
  }
  [[nodiscard]] bool is_constant() const {
    return power == 0.0 && !log && !is_shaped() && scale >= min && scale <= max;
  }
  // A clamped power of t.
  [[nodiscard]] bool is_monotone() const { return !log && !is_shaped(); }
  // Is 0 in some rounds by design.
  [[nodiscard]] bool rests() const { return from > 1 || (cosine > 0 && floor == 0.0 && !(min > 0.0)); }

  [[nodiscard]] double operator()(Round t) const {
    if (is_constant()) return scale;
    if (t < from) return 0.0;
    const double time = static_cast<double>(t);
    const double raw = scale_at(t) * std::pow(time, power) * (log ? std::log(time) : 1.0);
    return std::clamp(raw * shape(t), min, max);
  }

  // Counts (inner steps, batch sizes) round up and are at least one: K_1 = 4κ ln 1 would be 0.
  [[nodiscard]] std::int64_t count(Round t) const {
    const double value = std::ceil((*this)(t));
    return value >= 1.0 ? static_cast<std::int64_t>(std::min(value, 9e18)) : 1;
  }

  friend bool operator==(const Schedule&, const Schedule&) = default;

 private:
  [[nodiscard]] double scale_at(Round t) const {
    double now = scale;
    for (std::size_t i = 0; i < changes.count && changes.at[i] <= t; ++i) now = changes.value[i];
    return now;
  }
  [[nodiscard]] double shape(Round t) const {
    double factor = 1.0;
    const Round rising = t - std::max<Round>(from, 1) + 1;  // 1 in the first round that counts
    if (rising < warmup) factor = static_cast<double>(rising) / static_cast<double>(warmup);
    if (cosine == 0) return factor;
    if (t >= cosine) return factor * floor;
    const double angle = std::numbers::pi * static_cast<double>(t) / static_cast<double>(cosine);
    return factor * (floor + (1.0 - floor) * 0.5 * (1.0 + std::cos(angle)));
  }
};

}  // namespace obolus
