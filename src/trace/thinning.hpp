// How traces are thinned, for plots, reports and the live view alike. A column keeps every 2^k-th of its numbers,
// counted from the first, for a linear axis of rounds, and the first number in each of many intervals of t of equal
// ratio, for a logarithmic one. The number of rounds to come need not be known. What is kept depends on the rounds
// alone, so that runs that differ by their seed keep the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

enum class RoundAxis : std::uint8_t { linear = 1, logarithmic = 2 };

class Thinning {
 public:
  using Axes = std::uint8_t;  // those for which a number is kept, as bits

  // The axes that keep the column's next number.
  Axes next(Round t);
  // Makes the axis that keeps more numbers half as fine. `axes`: of every number held, at the rounds `t`.
  void coarsen(std::vector<Axes>& axes, const std::vector<double>& t);

  [[nodiscard]] bool any() const { return seen_ > 0; }
  // How many numbers are kept for the axis that keeps more.
  [[nodiscard]] std::size_t size() const { return linear_ > logarithmic_ ? linear_ : logarithmic_; }

 private:
  std::size_t seen_ = 0, stride_ = 1;
  std::size_t linear_ = 0, logarithmic_ = 0;  // kept
  int last_bin_ = -1, shift_ = 0;
};

}  // namespace obolus
