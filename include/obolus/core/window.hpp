// The last vectors of a sequence, weighted by age.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// In a ring of columns.
template <class S>
class Window {
 public:
  Window(Index size, std::int64_t length) : columns_(Matrix<S>::Zero(size, length)) {}

  void push(In<S> h) { columns_.col(pushed_++ % columns_.cols()) = h; }
  // sum ← Σ_{i < stored} decay^i h_{t−i}; returns the sum of the weights. A part of the sum stays in the cache while
  // all columns are added to it.
  double sum(double decay, Out<S> sum) const {
    constexpr Index part = 2048;
    for (Index from = 0; from < sum.size(); from += part) {
      const Index size = std::min(part, sum.size() - from);
      auto here = sum.segment(from, size);
      here.setZero();
      double weight = 1.0;
      for (std::int64_t age = 0; age < stored(); ++age, weight *= decay)
        here.noalias() += S(weight) * columns_.col((pushed_ - 1 - age) % columns_.cols()).segment(from, size);
    }
    double weight = 1.0, weights = 0.0;
    for (std::int64_t age = 0; age < stored(); ++age, weight *= decay) weights += weight;
    return weights;
  }
  [[nodiscard]] std::int64_t stored() const { return std::min<std::int64_t>(pushed_, columns_.cols()); }

  void fields(Archive& a) {
    a("pushed", pushed_);
    Vector<S> all = columns_.reshaped();
    a("columns", all);
    columns_.reshaped() = all;
  }

 private:
  Matrix<S> columns_;
  std::int64_t pushed_ = 0;
};

// Σ_{i < n} decay^i: OAGD and SOBOW, and the regrets that they bound, divide by it from the first round on.
[[nodiscard]] inline double full_weight(double decay, std::int64_t window) {
  return decay == 1.0 ? static_cast<double>(window)
                      : (1.0 - std::pow(decay, static_cast<double>(window))) / (1.0 - decay);
}

}  // namespace obolus
