// Conjugate gradients for g_yy v = f_y, where g_yy is known by its products only (Hestenes, Stiefel 1952).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "obolus/core/norm.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

template <class S>
struct CgWorkspace {
  Vector<S> residual, search, product;
  CgWorkspace() = default;
  explicit CgWorkspace(Index size) : residual(size), search(size), product(size) {}
};

struct CgOptions {
  std::int64_t max_iterations = 1000;
  double relative_tolerance = 1e-15;  // stop at |rhs − Av| <= relative_tolerance |rhs|, at least the epsilon of S
  double damping = 0.0;               // A = g_yy + damping · I
  bool warm = false;                  // compute the first residual by a product even from a start of zero
};

struct CgResult {
  std::int64_t iterations = 0;      // updates of v
  std::int64_t products = 0;        // calls of apply: one per iteration, warm start and refused search
  double residual_norm = 0.0;       // |rhs − Av| as the recursion has it
  bool converged = false;           // the tolerance was met
  bool negative_curvature = false;  // a search direction with <p, Ap> <= 0: A is not positive definite
  bool non_finite = false;          // a NaN or an infinity in rhs, the start, a product or a step
};

// Solves A v = rhs. v is the start on entry and the solution on return; a start of zero saves a product unless `warm`.
// Where the search is refused (negative_curvature, non_finite) v keeps the last good iterate. `apply(In<S> p, Out<S>
// out)` sets out = g_yy p. Nothing is allocated when the workspace has the size of rhs.
template <class S, class Apply>
CgResult conjugate_gradient(Apply&& apply, In<S> rhs, Out<S> v, CgWorkspace<S>& work, const CgOptions& options) {
  Vector<S>&r = work.residual, &p = work.search, &ap = work.product;
  CgResult result;
  const auto multiply = [&](In<S> u) {
    apply(u, Out<S>(ap));
    if (options.damping != 0.0) ap += static_cast<S>(options.damping) * u;
    ++result.products;
  };

  r = rhs;
  ap.resize(rhs.size());
  const double rhs_squared = inner_product<S>(r, r);
  if (rhs_squared == 0.0) v.setZero();
  if (options.warm || (v.array() != S(0)).any()) {
    multiply(v);
    r -= ap;
  }
  p = r;
  // The recursion's residual keeps falling after the true one has stopped: steps below epsilon are wasted.
  const double tolerance = std::max(options.relative_tolerance, static_cast<double>(std::numeric_limits<S>::epsilon()));
  const double target = tolerance * tolerance * rhs_squared;
  double squared = inner_product<S>(r, r);
  while (squared > target && result.iterations < options.max_iterations) {
    multiply(p);
    const double curvature = inner_product<S>(p, ap);
    const S step = static_cast<S>(squared / curvature);
    result.negative_curvature = curvature <= 0.0;
    result.non_finite = !std::isfinite(curvature) || (curvature > 0.0 && !std::isfinite(step));
    if (result.negative_curvature || result.non_finite) break;
    v += step * p;
    r -= step * ap;
    ++result.iterations;
    const double next = inner_product<S>(r, r);
    p = r + static_cast<S>(next / squared) * p;
    squared = next;
  }
  result.residual_norm = std::sqrt(squared);
  result.non_finite = result.non_finite || !std::isfinite(squared);
  result.converged = !result.non_finite && squared <= target;
  return result;
}

}  // namespace obolus
