// Euclidean projections in place, without allocation. Call them through ConvexSet (convex_set.hpp).
//
// A feasible point stays as it is, bit for bit, and a projected point is feasible:
// projecting twice equals projecting once, exactly. A NaN stays in the vector, for the caller to find.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/norm.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Plain comparisons: a NaN and a −0 pass through.
template <class S>
[[nodiscard]] constexpr S clamped(S value, S lower, S upper) {
  return value < lower ? lower : (value > upper ? upper : value);
}

// The largest entry, of at least one.
template <class S>
[[nodiscard]] S max_of(In<S> x) {
  return *std::max_element(x.data(), x.data() + x.size());
}

template <class S>
void scale_in_place(Out<S> x, double factor) {
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<S>(factor * static_cast<double>(x(i)));
}

// Rounding can leave the norm of a projected point some ulps above the radius. Shrinks until the computed norm is
// within it; the doubling reaches a factor of 0, whose norm is 0, after the digits of S, and mostly ends at the first.
template <class S, class Norm>
void shrink_into_ball(Out<S> x, double radius, Norm&& norm) {
  double excess = norm(x);
  for (double ulps = static_cast<double>(std::numeric_limits<S>::epsilon()); excess > radius; ulps *= 2.0) {
    scale_in_place<S>(x, std::max(0.0, std::min(1.0, radius / excess) * (1.0 - ulps)));
    excess = norm(x);
  }
}

template <class S>
void project_l2_ball(Out<S> x, double radius) {
  double norm = euclidean_norm<S>(x);
  if (!(norm > radius) || !all_finite<S>(x)) return;
  if (std::isinf(norm)) {  // the norm of finite doubles overflowed, and only their direction matters
    scale_in_place<S>(x, 0x1p-600);
    norm = euclidean_norm<S>(x);
  }
  // In this order: radius / norm may underflow, and in one dimension x / norm is ±1 exactly.
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<S>(static_cast<double>(x(i)) / norm * radius);
  shrink_into_ball<S>(x, radius, euclidean_norm<S>);
}

// By how much Σx may miss 1 on the simplex. Entries rounded to S move the sum by at most ε_S / 2, and three roundings
// in double by at most n·2^-53 each: of the mass that decides the shift, of the shift, and of the sum compared.
template <class S>
[[nodiscard]] double simplex_slack(Index n) {
  return static_cast<double>(std::numeric_limits<S>::epsilon()) + static_cast<double>(n) * 0x1p-51;
}

template <class S>
[[nodiscard]] bool in_simplex(In<S> x, double tolerance) {
  for (Index i = 0; i < x.size(); ++i)
    if (!(static_cast<double>(x(i)) >= -tolerance)) return false;
  const double mass = ordered_sum<S>(x.size(), [&](Index i) { return static_cast<double>(x(i)); });
  return std::abs(mass - 1.0) <= tolerance + simplex_slack<S>(x.size());
}

// Michelot's passes (JOTA 50, 1986) as Newton's method for the shift σ ∈ [−1, −1/n] with
//     φ(σ) = Σ_i max(w(i) − σ, 0) − 1 = 0,     max_i w(i) = 0.
// φ is convex, piecewise linear and falls; from φ(−1) ≥ 0 the steps go up and the active set {i : w(i) > σ} shrinks
// until it repeats, in at most n passes. The residual form corrects the rounding of the step before, so |φ| ends near
// n·2^-53 whatever the size of the entries.
template <class Weight>
[[nodiscard]] double unit_mass_shift(Weight&& w, Index n) {
  const double max = -1.0 / static_cast<double>(n);  // kept in spite of rounding: the largest entry stays active
  double shift = -1.0;
  for (Index before = n + 1;;) {
    double mass = 0.0;
    Index active = 0;
    for (Index i = 0; i < n; ++i) {
      const double part = w(i) - shift;
      if (part > 0.0) {
        mass += part;
        ++active;
      }
    }
    shift = std::min(shift + (mass - 1.0) / static_cast<double>(active), max);
    if (active >= before) return shift;
    before = active;
  }
}

template <class S>
void project_simplex(Out<S> x) {
  if (x.size() == 0 || !all_finite<S>(x)) return;
  if (in_simplex<S>(x, 0.0)) return;
  // Shifting by the maximum first changes nothing in exact arithmetic and keeps every number that matters within
  // [−1, 0]: with entries near 1e10 an unshifted threshold would carry an error of 1e-6.
  const double top = static_cast<double>(max_of<S>(x));
  const auto below_top = [&](Index i) { return static_cast<double>(x(i)) - top; };
  const double shift = unit_mass_shift(below_top, x.size());
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<S>(std::max(below_top(i) - shift, 0.0));
}

// Soft thresholding: |x| is projected on the simplex of mass `radius`, counted in units of the radius so that neither a
// large nor a small one overflows. Duchi, Shalev-Shwartz, Singer, Chandra (ICML 2008).
template <class S>
void project_l1_ball(Out<S> x, double radius) {
  if (!(l1_norm<S>(x) > radius) || !all_finite<S>(x)) return;
  const double top = max_norm<S>(x);
  const auto below_top = [&](Index i) { return (std::abs(static_cast<double>(x(i))) - top) / radius; };
  const double shift = unit_mass_shift(below_top, x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double before = static_cast<double>(x(i));
    // No entry may grow, as one far below the rounding of the largest could.
    const double kept = std::min(std::abs(before), std::max(below_top(i) - shift, 0.0) * radius);
    x(i) = static_cast<S>(std::copysign(kept, before));
  }
  shrink_into_ball<S>(x, radius, l1_norm<S>);
}

}  // namespace obolus
