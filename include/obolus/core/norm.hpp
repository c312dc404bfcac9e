// Sums that decide something accumulate in double, whatever the scalar of the vectors.
#pragma once

#include <cmath>
#include <limits>

#include "obolus/core/types.hpp"

namespace obolus {

template <class S>
[[nodiscard]] double inner_product(In<S> a, In<S> b) {
  return a.template cast<double>().dot(b.template cast<double>());
}

// No NaN and no infinity: 0 · v is 0 otherwise. In packs and in sums that need not wait for each other, where Eigen's allFinite goes number
// by number.
template <class S>
[[nodiscard]] bool all_finite(In<S> v) {
  constexpr Index group = 32;
  Eigen::Array<S, group, 1> zeros = Eigen::Array<S, group, 1>::Zero();
  const Index whole = v.size() / group * group;
  for (Index i = 0; i < whole; i += group) zeros += v.template segment<group>(i).array() * S(0);
  return zeros.sum() + (v.tail(v.size() - whole).array() * S(0)).sum() == S(0);
}

// |x|, without overflow or underflow on the way. A NaN gives NaN; |x| itself may still be infinite, as for two entries
// of 1.7e308.
template <class S>
[[nodiscard]] double euclidean_norm(In<S> x) {
  const double squared = x.template cast<double>().squaredNorm();
  // The squares of floats, subnormal ones too, lie within [1e-90, 1e77]: only doubles reach the second way.
  // Below 1e-280 a square may have lost digits to underflow.
  const bool safe = squared >= 1e-280 && squared < std::numeric_limits<double>::infinity();
  if (safe || std::isnan(squared)) return std::sqrt(squared);
  const double max = static_cast<double>(x.size() == 0 ? S(0) : x.cwiseAbs().maxCoeff());
  if (max == 0.0 || std::isinf(max)) return max;
  return max * (x.template cast<double>() / max).norm();
}

}  // namespace obolus
