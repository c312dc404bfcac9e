// How traces are thinned, for plots, reports and the live view alike. Rows are divided into blocks of 2^k rows, for a
// linear axis of rounds, and into bins of equal ratio of t, for a logarithmic one; of each column the first number in
// every block and in every bin is kept. What is measured rarely is thereby kept longest. The number of rounds to come
// need not be known. What is kept depends on the rounds alone, so that runs that differ by their seed keep the same
// ones.
#pragma once

#include <cstddef>

#include "obolus/core/types.hpp"

namespace obolus {

enum class RoundAxis { linear, logarithmic };

class Thinning {
 public:
  // The block or bin of a row: `ordinal` counts all rows of the trace from 0.
  [[nodiscard]] std::size_t interval(RoundAxis axis, std::size_t ordinal, Round t) const {
    return axis == RoundAxis::linear ? ordinal / block_ : bin(t) >> shift_;
  }
  // Joins every two neighbouring blocks or bins.
  void coarsen(RoundAxis axis) {
    if (axis == RoundAxis::linear) block_ *= 2;
    else ++shift_;
  }

 private:
  [[nodiscard]] static std::size_t bin(Round t);

  std::size_t block_ = 1, shift_ = 0;
};

}  // namespace obolus
