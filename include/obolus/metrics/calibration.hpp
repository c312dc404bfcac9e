// Whether probabilities are honest: of the rows that were given a probability near p, a share of p should come true.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "obolus/core/to_size.hpp"
#include "obolus/metrics/class_metrics.hpp"

namespace obolus {

// What the probabilities are of: class 1, where there are two classes; else whichever class a row was predicted to be.
enum class CalibrationOf : std::uint8_t { second_class, predicted_class };

// Bins of equal width over [0, 1]. Rows of weight 0 and rows whose probability is not known are left out.
struct Calibration {
  struct Bin {
    std::int64_t rows = 0;
    double weight = 0;
    double probability = 0, frequency = 0;  // weighted means; 0 without rows
  };
  static constexpr std::size_t size = 10;
  std::array<Bin, size> bins;

  void add(double probability, bool came_true, double weight) {
    if (weight == 0 || std::isnan(probability)) return;
    const double place = std::clamp(probability, 0.0, 1.0) * static_cast<double>(size);
    Bin& bin = bins[std::min(size - 1, to_size(place))];
    ++bin.rows;
    bin.weight += weight;
    bin.probability += weight / bin.weight * (probability - bin.probability);
    bin.frequency += weight / bin.weight * ((came_true ? 1.0 : 0.0) - bin.frequency);
  }

  // Of the rows in a window.
  [[nodiscard]] static Calibration of(const WindowedClassMetrics& window, CalibrationOf what) {
    Calibration result;
    window.each([&](const JudgedClass& row) {
      if (what == CalibrationOf::predicted_class)
        return result.add(row.confidence, row.predicted == row.truth, row.weight);
      result.add(row.predicted == 1 ? row.confidence : 1 - row.confidence, row.truth == 1, row.weight);
    });
    return result;
  }
};

}  // namespace obolus
