// The size of the numbers that a primitive rounds, against which its error is measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "obolus/core/inner_storage.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus::checks {

// What is rounded in f·f_y + g·g_y at y. The terms of g_y are as large as g_y(y) and g_y(0), even where they cancel.
template <FirstOrderOracle P>
[[nodiscard]] double gradient_size(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Penalty penalty) {
  using S = ScalarOf<P>;
  Vector<S> d(y.size());
  p.outer_gradient_y(x, y, d);
  double size = std::abs(penalty.f) * euclidean_norm<S>(d);
  p.inner_gradient_y(x, y, d);
  size += std::abs(penalty.g) * euclidean_norm<S>(d);
  p.inner_gradient_y(x, Vector<S>::Zero(y.size()), d);
  return size + std::abs(penalty.g) * euclidean_norm<S>(d);
}

// What is rounded in f_x + λ(g_x − g_x) at y. g_x at `others` too, as far out: one value may be small because terms
// cancel; its rounding is not.
template <FirstOrderOracle P>
[[nodiscard]] double direction_size(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y,
                                    const std::vector<Vector<ScalarOf<P>>>& others, double lambda) {
  using S = ScalarOf<P>;
  Vector<S> d(x.size());
  p.outer_gradient_x(x, y, d);
  const double of_f = euclidean_norm<S>(d);
  p.inner_gradient_x(x, y, d);
  double of_g = euclidean_norm<S>(d);
  for (const Vector<S>& at : others) {
    p.inner_gradient_x(x, at, d);
    of_g = std::max(of_g, euclidean_norm<S>(d));
  }
  return of_f + 2.0 * lambda * of_g;
}

}  // namespace obolus::checks
