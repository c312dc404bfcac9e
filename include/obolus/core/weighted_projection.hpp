// argmin_{u ∈ X} Σ_i h_i (u_i − x_i)², h > 0: the projection in the norm that a diagonal outer step measures with.
//
// Sets made of bounds project coordinate by coordinate, whatever the weights. For the balls and the simplex the
// solution has one multiplier θ, found by bisection to the last bit; the result is as feasible as that of the plain
// projections.
#pragma once

#include <algorithm>
#include <cmath>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/projection.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// The smallest θ in (low, high] with size(θ) ≤ target, where size falls from above the target at low.
template <class Size>
[[nodiscard]] double min_multiplier(Size&& size, double low, double high, double target) {
  while (size(high) > target) high = high > 0 ? 2 * high : high + 1;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    (size(middle) > target ? low : high) = middle;
  }
}

// u_i = h_i x_i/(h_i + θ)
template <class S>
void project_weighted_l2_ball(Out<S> x, In<S> h, double radius) {
  if (!(euclidean_norm<S>(x) > radius) || !all_finite<S>(x)) return;
  const auto shrunk = [&](Index i, double theta) {
    return static_cast<double>(h(i)) * static_cast<double>(x(i)) / (static_cast<double>(h(i)) + theta);
  };
  const auto size = [&](double theta) {
    double sum = 0.0;
    for (Index i = 0; i < x.size(); ++i) sum += shrunk(i, theta) * shrunk(i, theta);
    return std::sqrt(sum);
  };
  const double theta = min_multiplier(size, 0.0, static_cast<double>(max_of<S>(h)), radius);
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<S>(shrunk(i, theta));
  shrink_into_ball<S>(x, radius, euclidean_norm<S>);
}

// u_i = sign(x_i) max(|x_i| − θ/h_i, 0)
template <class S>
void project_weighted_l1_ball(Out<S> x, In<S> h, double radius) {
  if (!(l1_norm<S>(x) > radius) || !all_finite<S>(x)) return;
  const auto shrunk = [&](Index i, double theta) {
    return std::max(std::abs(static_cast<double>(x(i))) - theta / static_cast<double>(h(i)), 0.0);
  };
  const auto size = [&](double theta) {
    double sum = 0.0;
    for (Index i = 0; i < x.size(); ++i) sum += shrunk(i, theta);
    return sum;
  };
  S max = S(0);
  for (Index i = 0; i < x.size(); ++i) max = std::max(max, h(i) * std::abs(x(i)));
  const double theta = min_multiplier(size, 0.0, static_cast<double>(max), radius);
  for (Index i = 0; i < x.size(); ++i)
    x(i) = static_cast<S>(std::copysign(shrunk(i, theta), static_cast<double>(x(i))));
  shrink_into_ball<S>(x, radius, l1_norm<S>);
}

// u_i = max(x_i − θ/h_i, 0) with Σu = 1
template <class S>
void project_weighted_simplex(Out<S> x, In<S> h) {
  if (x.size() == 0 || !all_finite<S>(x)) return;
  const auto part = [&](Index i, double theta) {
    return std::max(static_cast<double>(x(i)) - theta / static_cast<double>(h(i)), 0.0);
  };
  const auto mass = [&](double theta) {
    double sum = 0.0;
    for (Index i = 0; i < x.size(); ++i) sum += part(i, theta);
    return sum;
  };
  double low = -sets::infinity, high = -sets::infinity;  // some part is 1 at low, all are 0 at high
  for (Index i = 0; i < x.size(); ++i) {
    const double weight = static_cast<double>(h(i)), value = static_cast<double>(x(i));
    low = std::max(low, weight * (value - 1.0));
    high = std::max(high, weight * value);
  }
  const double theta = mass(low) > 1.0 ? min_multiplier(mass, low, high, 1.0) : low;
  const double sum = mass(theta);
  if (sum > 0.0) {
    for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<S>(part(i, theta) / sum);
  } else {  // all mass belongs to one coordinate, and θ is too coarse to show it
    const auto rank = [&](Index i) { return h(i) * (x(i) - S(1)); };
    Index heaviest = 0;
    for (Index i = 1; i < x.size(); ++i)
      if (rank(i) > rank(heaviest)) heaviest = i;
    for (Index i = 0; i < x.size(); ++i) x(i) = i == heaviest ? S(1) : S(0);
  }
}

template <class S>
void project_weighted(const ConvexSet& set, Out<S> x, In<S> h) {
  set.visit([&]<class Set>(const Set& s) {
    if constexpr (std::is_same_v<Set, sets::L2Ball>) project_weighted_l2_ball<S>(x, h, s.radius);
    else if constexpr (std::is_same_v<Set, sets::L1Ball>) project_weighted_l1_ball<S>(x, h, s.radius);
    else if constexpr (std::is_same_v<Set, sets::Simplex>) project_weighted_simplex<S>(x, h);
    else s.template project<S>(x);
  });
}

}  // namespace obolus
