// Sums that decide something accumulate in double, whatever the scalar of the vectors, and always in the same order.
//
// Plain loops instead of Eigen's expressions: each expression is a type of its own and costs every file that uses it
// about 0.1 s of compilation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "obolus/core/types.hpp"

namespace obolus {

// Σ_i term(i). Doubles are added in four partial sums that need not wait for each other, products of floats (S = float)
// one by one: both are the orders in which Eigen adds them on SSE2.
template <class S, class Term>
[[nodiscard]] double ordered_sum(Index n, Term&& term) {
  if (n == 0) return 0.0;
  double sum = term(0);
  Index i = 1;
  if (std::is_same_v<S, double> && n >= 2) {
    double a0 = sum, a1 = term(1);
    i = 2;
    if (n >= 4) {
      double b0 = term(2), b1 = term(3);
      for (i = 4; i + 4 <= n; i += 4) {
        a0 += term(i);
        a1 += term(i + 1);
        b0 += term(i + 2);
        b1 += term(i + 3);
      }
      a0 += b0;
      a1 += b1;
    }
    if (i + 2 <= n) {
      a0 += term(i);
      a1 += term(i + 1);
      i += 2;
    }
    sum = a0 + a1;
  }
  for (; i < n; ++i) sum += term(i);
  return sum;
}

template <class S>
[[nodiscard]] double inner_product(In<S> a, In<S> b) {
  const S* const first = a.data();
  const S* const second = b.data();
  return ordered_sum<S>(a.size(),
                        [&](Index i) { return static_cast<double>(first[i]) * static_cast<double>(second[i]); });
}

// Σ|x_i|
template <class S>
[[nodiscard]] double l1_norm(In<S> x) {
  const S* const values = x.data();
  return ordered_sum<S>(x.size(), [&](Index i) { return std::abs(static_cast<double>(values[i])); });
}

// max |x_i|, 0 for no entries. For finite entries.
template <class S>
[[nodiscard]] double max_norm(In<S> x) {
  const S* const values = x.data();
  S max = S(0);
  for (Index i = 0; i < x.size(); ++i) max = std::max(max, std::abs(values[i]));
  return static_cast<double>(max);
}

// No NaN and no infinity: 0 · v is 0 otherwise. In partial sums that need not wait for each other, where Eigen's
// allFinite goes number by number.
template <class S>
[[nodiscard]] bool all_finite(In<S> v) {
  constexpr Index group = 16;
  std::array<S, group> zeros{};
  const S* const values = v.data();
  const Index whole = v.size() / group * group;
  for (Index i = 0; i < whole; i += group)
    for (Index k = 0; k < group; ++k) zeros[to_size(k)] += values[i + k] * S(0);
  for (Index i = whole; i < v.size(); ++i) zeros[0] += values[i] * S(0);
  return std::all_of(zeros.begin(), zeros.end(), [](S zero) { return zero == S(0); });
}

// |x|, without overflow or underflow on the way. A NaN gives NaN; |x| itself may still be infinite, as for two entries
// of 1.7e308.
template <class S>
[[nodiscard]] double euclidean_norm(In<S> x) {
  const double squared = inner_product<S>(x, x);
  // The squares of floats, subnormal ones too, lie within [1e-90, 1e77]: only doubles reach the second way.
  // Below 1e-280 a square may have lost digits to underflow.
  const bool safe = squared >= 1e-280 && squared < std::numeric_limits<double>::infinity();
  if (safe || std::isnan(squared)) return std::sqrt(squared);
  const double max = max_norm<S>(x);
  if (max == 0.0 || std::isinf(max)) return max;
  const S* const values = x.data();
  const double in_units_of_max = ordered_sum<S>(x.size(), [&](Index i) {
    const double value = static_cast<double>(values[i]) / max;
    return value * value;
  });
  return max * std::sqrt(in_units_of_max);
}

}  // namespace obolus
