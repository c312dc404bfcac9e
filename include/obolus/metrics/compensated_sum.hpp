// A sum in about 106 bits: the rounded sum and what rounding lost, which TwoSum (Knuth, TAOCP 2, 4.2.2) gives exactly.
#pragma once

#include "obolus/core/archive.hpp"

namespace obolus {

class CompensatedSum {
 public:
  void add(double value) {
    const double sum = high_ + value;
    const double taken = sum - high_;
    low_ += (high_ - (sum - taken)) + (value - taken);
    high_ = sum + low_;
    low_ -= high_ - sum;  // exact unless the sum has cancelled; then to the last bit of low
  }
  [[nodiscard]] double value() const { return high_; }

  void fields(Archive& a) {
    a("high", high_);
    a("low", low_);
  }

 private:
  double high_ = 0.0, low_ = 0.0;
};

}  // namespace obolus
