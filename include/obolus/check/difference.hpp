// Central differences, extrapolated until they are accurate enough to judge by.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "obolus/core/linear.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/types.hpp"

namespace obolus::checks {

struct Extrapolated {
  Vector<double> value;
  double error = std::numeric_limits<double>::infinity();  // estimated
};

// lim at(h) as h → 0 for a smooth even function of h: Richardson's table for h = reach, reach/4, … (Ridders 1982), of
// which the entry is taken that agrees best with its neighbours. h ends near ε^(1/3) reach, so that no entry carries
// more rounding than differences with their best step do.
[[nodiscard]] inline Extrapolated extrapolate(const std::function<Vector<double>(double)>& at, double reach,
                                              double epsilon) {
  const double min = std::cbrt(epsilon) * reach;
  std::vector<Vector<double>> before, row;
  Extrapolated best;
  for (double h = reach; h >= min; h *= 0.25) {
    row.assign(1, at(h));
    double order = 16.0;  // (h / (h/4))²
    for (const Vector<double>& coarse : before) {
      Vector<double> finer = row.back() + (row.back() - coarse) / (order - 1.0);
      row.push_back(std::move(finer));
      const double error = std::max((row.back() - row[row.size() - 2]).norm(), (row.back() - coarse).norm());
      if (error < best.error) best = {row.back(), error};
      order *= 16.0;
    }
    before.swap(row);
  }
  return best;
}

struct Comparison {
  double error = 0.0;  // |derivative claimed − differences|, with what is uncertain of the differences
  double scale = 0.0;  // sizes of what was rounded on the way: |derivative| + |values| / reach
};

template <class S>
using VectorFunction = std::function<Vector<double>(const Vector<S>&)>;

// Whether `slope(δ)` is the derivative of `value` at `at` along `direction`, a unit vector. The shift is the one that
// the rounded points really have, δ = (at + hu) − (at − hu), in S.
template <class S>
[[nodiscard]] Comparison compare_derivative(In<S> at, In<S> direction, double reach, const VectorFunction<S>& value,
                                            const VectorFunction<S>& slope) {
  Comparison result;
  Vector<S> plus(at.size()), minus(at.size()), delta(at.size());
  const Extrapolated gap = extrapolate(
      [&](double h) -> Vector<double> {
        shift<S>(plus, at, static_cast<S>(h), direction);
        shift<S>(minus, at, -static_cast<S>(h), direction);
        shift<S>(delta, plus, S(-1), minus);
        const double length = euclidean_norm<S>(delta);
        const Vector<double> above = value(plus), below = value(minus), change = slope(delta);
        result.scale = std::max(result.scale, change.norm() / length + std::max(above.norm(), below.norm()) / reach);
        return (above - below - change) / length;
      },
      reach, static_cast<double>(std::numeric_limits<S>::epsilon()));
  result.error = gap.value.size() == 0 ? gap.error : gap.value.norm() + gap.error;
  return result;
}

}  // namespace obolus::checks
