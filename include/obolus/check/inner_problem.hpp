// The inner problem as a whole: curvature of g in y, the closed-form solution, and the hypergradient that follows.
#pragma once

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "obolus/check/difference.hpp"
#include "obolus/check/gradients.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/metrics/hypergradient.hpp"

namespace obolus::checks {

// The minimum and maximum of <u, g_yy u>/|u|² seen.
struct Curvature {
  double min = std::numeric_limits<double>::infinity();
  double max = 0.0;

  void include(double value) {
    min = std::isnan(value) ? value : std::min(value, min);
    max = std::max(max, value);
  }
  [[nodiscard]] double condition() const { return min > 0.0 ? max / min : std::numeric_limits<double>::infinity(); }
};

// Lanczos' method (1950) from a random start, fully reorthogonalised: the extreme Ritz values find a direction without
// curvature, or with a negative one, within a few products, where random directions would miss it.
template <FirstOrderOracle P>
[[nodiscard]] Curvature measure_curvature(P& p, const Place<ScalarOf<P>>& place, Rng& rng) {
  using S = ScalarOf<P>;
  const Index size = place.y.size(), steps = std::min<Index>(size, 40);
  Matrix<double> basis(size, steps);
  Vector<double> diagonal(steps), beside(steps);  // of the tridiagonal matrix whose eigenvalues are the Ritz values
  Vector<double> next = unit_direction<double>(size, rng);
  Vector<S> product(size);
  Index built = 0;
  with_products(p, [&](auto& q, bool) {
    while (built < steps) {
      basis.col(built) = next;
      const Vector<S> u = next.template cast<S>();
      q.inner_hvp_yy(place.x, place.y, u, product);
      next = product.template cast<double>();
      const double length = next.norm();
      diagonal[built] = basis.col(built).dot(next);
      ++built;
      for (int pass = 0; pass < 2; ++pass) next -= basis.leftCols(built) * (basis.leftCols(built).transpose() * next);
      if (built == steps || !(next.norm() > rounding<S>(size) * length)) break;  // an invariant subspace, or a NaN
      beside[built - 1] = next.norm();
      next.normalize();
    }
  });
  Curvature seen;
  const double scale =
      std::max(diagonal.head(built).lpNorm<Eigen::Infinity>(), beside.head(built - 1).lpNorm<Eigen::Infinity>());
  const Vector<double> on = diagonal.head(built) / scale, off = beside.head(built - 1) / scale;
  if (scale == 0.0 || !on.allFinite() || !off.allFinite()) {
    seen.include(scale == 0.0 ? 0.0 : std::nan(""));
    return seen;
  }
  Eigen::SelfAdjointEigenSolver<Matrix<double>> ritz;
  ritz.computeFromTridiagonal(on, off, Eigen::EigenvaluesOnly);
  for (const double value : ritz.eigenvalues()) seen.include(scale * value);
  return seen;
}

inline std::string text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 4).ptr};
}

// Curvature that rounding alone could produce counts as none: ε of the maximum for exact products, ε^(2/3) for
// differences. A long step sees what a product at one point cannot.
template <FirstOrderOracle P>
Curvature check_curvature(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                          Rng& rng) {
  using S = ScalarOf<P>;
  Curvature seen = measure_curvature(p, place, rng);
  Vector<S> high(place.y.size()), low(place.y.size());
  const Vector<S> moved = place.y + S(options.radius) * unit_direction<S>(place.y.size(), rng);
  p.inner_gradient_y(place.x, moved, high);
  p.inner_gradient_y(place.x, place.y, low);
  const Vector<S> delta = moved - place.y, change = high - low;
  seen.include(inner_product<S>(delta, change) / inner_product<S>(delta, delta));
  const double noise = capabilities_of(p).hvp ? rounding<S>(place.y.size()) : difference_rounding<S>();
  report.record("g is strongly convex in y (error: condition number seen)", seen.condition(), options.slack / noise,
                place.name + ": curvature from " + text(seen.min) + " to " + text(seen.max));
  return seen;
}

// g_y(x, y*(x)) = 0 up to the rounding of its terms, which at y* are as large as g_y(x, 0) and the curvature times
// |y*|.
template <ClosedFormOracle P>
void check_closed_form(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                       double max_curvature) {
  using S = ScalarOf<P>;
  const Index size = place.y.size();
  check_call<S>(report, "y*", place, size, [&](Vector<S>& d) { p.inner_solution(place.x, d); });
  Vector<S> solution(size), gradient(size);
  p.inner_gradient_y(place.x, Vector<S>::Zero(size), gradient);
  const double at_zero = euclidean_norm<S>(gradient);
  p.inner_solution(place.x, solution);
  p.inner_gradient_y(place.x, solution, gradient);
  const double scale = at_zero + max_curvature * euclidean_norm<S>(solution);
  report.record("g_y vanishes at y*", euclidean_norm<S>(gradient), options.slack * rounding<S>(size) * scale,
                place.name);
}

// A step along u that moves neither x nor y* by more than `reach`: F follows y*, however fast y* moves.
template <FirstOrderOracle P>
double reach_of_F(P& p, Hypergradient<P>& hypergradient, In<ScalarOf<P>> x, In<ScalarOf<P>> u, double reach) {
  using S = ScalarOf<P>;
  Vector<S> ignored(x.size());
  hypergradient(p, x, ignored);
  const Vector<S> y = hypergradient.solution();
  hypergradient(p, x + static_cast<S>(reach) * u, ignored);
  const Vector<S> moved = hypergradient.solution() - y;
  const double distance = euclidean_norm<S>(moved);
  return distance > reach ? reach * reach / distance : reach;
}

// f_x − g_xy v against differences of F(x) = f(x, y*(x)). y* and v have errors of κε of their size, which F and ∇F
// pass on.
template <FirstOrderOracle P>
void check_hypergradient(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                         double condition, Rng& rng) {
  using S = ScalarOf<P>;
  Hypergradient<P> hypergradient(p);
  Vector<S> gradient(place.x.size()), ignored(place.x.size()), f_x(place.x.size()), f_y(place.y.size());
  const bool solved = hypergradient(p, place.x, gradient);
  report.record("the inner problem and its linear system can be solved", solved ? 0.0 : 1.0, 0.0, place.name);
  if (!solved) return;
  p.outer_gradient_x(place.x, hypergradient.solution(), f_x);
  p.outer_gradient_y(place.x, hypergradient.solution(), f_y);
  const Vector<S> implicit = gradient - f_x;
  const double in_gradient = condition * euclidean_norm<S>(implicit);
  const double in_value = condition * euclidean_norm<S>(f_y) * euclidean_norm<S>(hypergradient.solution());
  const auto value = [&](const Vector<S>& x) {
    const bool known = hypergradient(p, x, ignored);
    const double F = p.outer_value(x, hypergradient.solution());
    return Vector<double>::Constant(1, known ? F : std::numeric_limits<double>::quiet_NaN()).eval();
  };
  const auto slope = [&](const Vector<S>& shift) {
    return Vector<double>::Constant(1, inner_product<S>(gradient, shift)).eval();
  };
  along_directions<S>(place.x.size(), options.directions, rng, [&](const Vector<S>& u, const std::string& along) {
    const double reach = reach_of_F(p, hypergradient, place.x, u, 0.1 * options.radius);
    const Comparison c = compare_derivative<S>(place.x, u, reach, value, slope);
    report.record("f_x − g_xy v against differences of F", c.error,
                  options.slack * difference_rounding<S>() * (c.scale + in_gradient + in_value / reach),
                  place.name + ", " + along);
  });
}

}  // namespace obolus::checks
