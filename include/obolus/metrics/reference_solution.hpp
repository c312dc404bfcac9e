// argmin_y g(x, y) to rounding, for metrics and checks of problems without a closed form.
//
// Inexact Newton (Dembo, Eisenstat, Steihaug 1982): conjugate gradients bring g_yy d = −g_y down to a thousandth of its
// right-hand side, and the step is halved until |g_y| falls, which on a strongly convex g it does from any start.
// Values of g are not used: below |g_y| = √(ε μ |g|) their rounding hides what a step gains.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "obolus/core/linear_solve.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

template <class S>
struct ReferenceWorkspace {
  Vector<S> gradient, direction, trial, trial_gradient;
  CgWorkspace<S> cg;
  explicit ReferenceWorkspace(Index size)
      : gradient(size), direction(size), trial(size), trial_gradient(size), cg(size) {}
};

struct ReferenceResult {
  double residual = 0.0;  // |g_y(x, y)| at the y returned
  double scale = 0.0;     // |g_y(x, 0)|, what a residual is relative to; the first residual where that is 0
  std::int64_t iterations = 0;
  bool converged = false;  // residual ≤ reference_tolerance · scale
};

// 9e-13 in double, 5e-4 in float: above the rounding of a gradient, which is some ε times its largest terms.
template <class S>
inline constexpr double reference_tolerance = 4096.0 * static_cast<double>(std::numeric_limits<S>::epsilon());

namespace detail {

// y ← y + sd with the first s in 1, ½, ¼, … for which |g_y| falls; false where none does.
template <HvpOracle P>
bool newton_step(P& p, In<ScalarOf<P>> x, Vector<ScalarOf<P>>& y, ReferenceWorkspace<ScalarOf<P>>& work,
                 double& residual, int halvings) {
  using S = ScalarOf<P>;
  const CgOptions inexact{.max_iterations = std::max<std::int64_t>(1000, 4 * y.size()), .relative_tolerance = 1e-3};
  work.direction.setZero();
  conjugate_gradient<S>([&](In<S> v, Out<S> out) { p.inner_hvp_yy(x, y, v, out); }, work.gradient, work.direction,
                        work.cg, inexact);
  double s = 1.0;
  for (int i = 0; i <= halvings; ++i, s *= 0.5) {
    work.trial = y - static_cast<S>(s) * work.direction;
    p.inner_gradient_y(x, work.trial, work.trial_gradient);
    const double norm = euclidean_norm<S>(work.trial_gradient);
    if (!(norm <= (1.0 - 1e-4 * s) * residual)) continue;
    y.swap(work.trial);
    work.gradient.swap(work.trial_gradient);
    residual = norm;
    return true;
  }
  return false;
}

}  // namespace detail

// y is the start on entry and the solution on return. Once within the tolerance, steps continue while each halves
// the residual: the last digits cost almost nothing, and differences of F need them.
template <HvpOracle P>
ReferenceResult solve_inner(P& p, In<ScalarOf<P>> x, Vector<ScalarOf<P>>& y, ReferenceWorkspace<ScalarOf<P>>& work) {
  using S = ScalarOf<P>;
  ReferenceResult result;
  work.trial.setZero();
  p.inner_gradient_y(x, work.trial, work.trial_gradient);
  result.scale = euclidean_norm<S>(work.trial_gradient);
  p.inner_gradient_y(x, y, work.gradient);
  result.residual = euclidean_norm<S>(work.gradient);
  if (result.scale == 0.0) result.scale = result.residual;
  constexpr int max = 200;
  for (; result.iterations < max && result.residual > 0.0 && std::isfinite(result.residual); ++result.iterations) {
    const double before = result.residual;
    const bool within = before <= reference_tolerance<S> * result.scale;
    if (!detail::newton_step(p, x, y, work, result.residual, within ? 0 : 40)) break;
    if (within && result.residual > 0.5 * before) break;
  }
  result.converged = std::isfinite(result.residual) && result.residual <= reference_tolerance<S> * result.scale;
  return result;
}

}  // namespace obolus
