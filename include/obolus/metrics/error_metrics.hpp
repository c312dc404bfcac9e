// Prequential metrics of a regression, as folds: mean squared, mean absolute and median error, cumulative or over a
// window.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/types.hpp"
#include "obolus/metrics/compensated_sum.hpp"
#include "obolus/metrics/sliding_window.hpp"

namespace obolus {

struct JudgedNumber {
  static constexpr Index numbers = 3;

  double truth = 0.0, predicted = 0.0;
  double weight = 1.0;

  [[nodiscard]] std::array<double, 3> packed() const { return {truth, predicted, weight}; }
  static JudgedNumber unpacked(std::span<const double, 3> n) { return {n[0], n[1], n[2]}; }
};

// Weighted means over rows; NaN without rows.
class ErrorMetrics {
 public:
  using Row = JudgedNumber;

  void add(const Row& row) { change(row, 1.0); }
  // Undoes an add() of the same row.
  void remove(const Row& row) { change(row, -1.0); }
  void clear() { *this = {}; }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] double weight() const { return weight_.value(); }
  [[nodiscard]] double squared_error() const { return mean(squares_); }
  [[nodiscard]] double absolute_error() const { return mean(distances_); }
  // Half of the rows, whatever their weights, have a smaller absolute error: to 1.1 %, as counted in bins of 2^(1/32).
  [[nodiscard]] double median_error() const {
    double below = 0;
    for (Index i = 0; i < count_.size(); ++i) {
      below += count_[i];
      if (2 * below < static_cast<double>(rows_)) continue;
      return i == 0 ? 0.0 : std::exp2((static_cast<double>(i) + 0.5) / per_octave - below_one);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  void fields(Archive& a) {
    a("rows", rows_);
    count_ = rows_ == 0 ? Vector<double>() : a.loading() ? Vector<double>::Zero(bins) : std::move(count_);
    a("count", count_);
    a("weight", weight_);
    a("squares", squares_);
    a("distances", distances_);
  }

 private:
  static constexpr int below_one = 64, octaves = 2 * below_one, per_octave = 32, bins = octaves * per_octave;

  // The first is for what is too small, 0 above all; the last for what is too large.
  static Index bin(double distance) {
    const double place = distance > 0 ? (std::log2(distance) + below_one) * per_octave : 0.0;
    return static_cast<Index>(std::clamp(place, 0.0, bins - 1.0));
  }

  [[nodiscard]] double mean(const CompensatedSum& sum) const {
    return weight_.value() > 0.0 ? sum.value() / weight_.value() : std::numeric_limits<double>::quiet_NaN();
  }

  void change(const Row& row, double sign) {
    const double error = row.predicted - row.truth;
    const double square = row.weight * error * error;
    if (!(row.weight >= 0.0) || !std::isfinite(square))
      throw DataError("metrics: got truth " + std::to_string(row.truth) + ", prediction " +
                      std::to_string(row.predicted) + " and weight " + std::to_string(row.weight) +
                      ", expected a finite squared error and a weight ≥ 0");
    rows_ += sign > 0 ? 1 : -1;
    if (count_.size() == 0) count_ = Vector<double>::Zero(bins);
    count_[bin(std::abs(error))] += sign;
    weight_.add(sign * row.weight);
    squares_.add(sign * square);
    distances_.add(sign * row.weight * std::abs(error));
  }

  std::int64_t rows_ = 0;
  CompensatedSum weight_, squares_, distances_;
  Vector<double> count_;  // of rows by the logarithm of the error; empty without rows
};

using WindowedErrorMetrics = SlidingWindow<ErrorMetrics>;

}  // namespace obolus
