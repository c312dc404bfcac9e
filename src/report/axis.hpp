// An axis: its range, the place of a value on it, and its marks.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/svg.hpp"

namespace obolus {

struct Tick {
  double part = 0;  // of the way from the low end to the high one
  Words label = {};
  bool minor = false;  // without a label
};

struct Ticks {
  std::vector<Tick> all;
  Words factor = {};  // that every label is to be multiplied by: ×10 and 5

  [[nodiscard]] double max_width(double size) const;
};

class Axis {
 public:
  explicit Axis(bool logarithmic) : logarithmic_(logarithmic) {}

  // Beyond 10^±200 the range, or the step of its marks, may overflow.
  [[nodiscard]] bool takes(double v) const { return std::abs(v) < 1e200 && (!logarithmic_ || v > 1e-200); }
  void include(double v) {
    if (!takes(v)) return;
    low_ = std::min(low_, scaled(v));
    high_ = std::max(high_, scaled(v));
  }
  // Once all values are included: adds room at the ends, and widens an empty range.
  void settle(double room);
  // The same; a linear axis that nearly begins at 0 begins there.
  void settle_from_zero(double room);

  [[nodiscard]] double part(double v) const { return (scaled(v) - low_) / (high_ - low_); }
  [[nodiscard]] double floor() const { return logarithmic_ ? std::pow(10.0, low_) : low_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] Ticks ticks(int max_labels) const;  // about so many labels at most

 private:
  [[nodiscard]] double scaled(double v) const { return logarithmic_ ? std::log10(v) : v; }
  [[nodiscard]] std::vector<double> round_values(double low, double high, int max_labels) const;
  [[nodiscard]] Ticks linear(int max_labels) const;
  [[nodiscard]] Ticks decades(int max_labels) const;
  [[nodiscard]] Ticks within_a_decade(int max_labels) const;

  bool logarithmic_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

}  // namespace obolus
