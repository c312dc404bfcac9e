// Prequential metrics of a regression, as folds: mean squared and mean absolute error, cumulative or over a window.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
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

  void fields(Archive& a) {
    a("rows", rows_);
    a("weight", weight_);
    a("squares", squares_);
    a("distances", distances_);
  }

 private:
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
    weight_.add(sign * row.weight);
    squares_.add(sign * square);
    distances_.add(sign * row.weight * std::abs(error));
  }

  std::int64_t rows_ = 0;
  CompensatedSum weight_, squares_, distances_;
};

using WindowedErrorMetrics = SlidingWindow<ErrorMetrics>;

}  // namespace obolus
