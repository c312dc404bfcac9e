// Suprema over X by trying points, for two-dimensional X, and statistics of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"

namespace obolus::test {

struct TriedSet {
  ConvexSet set;
  std::vector<Vector<double>> extremes;  // an affine function is largest at one of them, or within `share` of it
  double share = 0.0;
};

inline Vector<double> at(double a, double b) { return (Vector<double>(2) << a, b).finished(); }

// N points of a circle miss the largest value of an affine function by 1 − cos(π/N) < 3.1e-7 of it.
inline std::vector<TriedSet> bounded_plane_sets() {
  std::vector<Vector<double>> circle;
  constexpr int points = 4000;
  for (int i = 0; i < points; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / points;
    circle.push_back(1.5 * at(std::cos(angle), std::sin(angle)));
  }
  return {{ConvexSet::box(-1.0, 2.0), {at(-1, -1), at(-1, 2), at(2, -1), at(2, 2)}},
          {ConvexSet::box(at(-1, 0), at(0.5, 3)), {at(-1, 0), at(-1, 3), at(0.5, 0), at(0.5, 3)}},
          {ConvexSet::l1_ball(2.0), {at(2, 0), at(-2, 0), at(0, 2), at(0, -2)}},
          {ConvexSet::simplex(), {at(1, 0), at(0, 1)}},
          {ConvexSet::l2_ball(1.5), circle, 3.1e-7}};
}

template <class P>
double value_of_F(P& p, Round t, const Vector<double>& x) {
  Vector<double> y(p.dims().y);
  p.reveal(t);
  p.inner_solution(x, y);
  return p.outer_value(x, y);
}

template <class P>
Vector<double> solution_at(P& p, Round t, const Vector<double>& x) {
  Vector<double> y(p.dims().y);
  p.reveal(t);
  p.inner_solution(x, y);
  return y;
}

template <class P>
double max_change_of_F(P& p, Round t, const std::vector<Vector<double>>& points) {
  double max = 0.0;
  for (const Vector<double>& x : points) max = std::max(max, std::abs(value_of_F(p, t, x) - value_of_F(p, t - 1, x)));
  return max;
}

// Mean of n values and five standard errors of it.
struct Mean {
  double value, five_errors;
};
template <class Draw>
Mean mean_of(int n, Draw&& draw) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < n; ++i) {
    const double v = draw();
    sum += v;
    squares += v * v;
  }
  const double mean = sum / n;
  return {mean, 5.0 * std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

}  // namespace obolus::test
