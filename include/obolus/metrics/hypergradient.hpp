// ∇F(x) = f_x − g_xy v with g_yy v = f_y, all at y*(x): the true hypergradient by which an optimiser is measured.
//
// y* is the problem's closed form where it has one, otherwise a reference solve that starts at the last solution. v
// comes from conjugate gradients, always from zero: with a closed form the result does not depend on earlier calls.
// Products are the problem's own or, failing that, central differences of its gradients, which leave an error of order
// ε^(2/3) κ. The functions used are the current ones: after `resample`, the sampled ones.
//
// Where g has no minimiser the reference solve runs off to where g_yy vanishes, and v has no correct digit. Let
// c(y, u) = <u, g_yy(x, y) u>/|u|². A gradient is not usable if ε c(y, f_y) > c(y*, v) at y = y* or y = 0 (against the
// curvature of f_y, there or at the origin, that of v is singular to rounding), or if CG met a curvature ≤ 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "obolus/core/archive.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/core/linear_solve.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/types.hpp"
#include "obolus/metrics/reference_solution.hpp"
#include "obolus/metrics/reference_steps.hpp"

namespace obolus {

template <class S>
struct HypergradientWorkspace {
  Vector<S> y, v, f_y, cross;
  ReferenceWorkspace<S> reference;
  explicit HypergradientWorkspace(Dims dims)
      : y(Vector<S>::Zero(dims.y)), v(Vector<S>::Zero(dims.y)), f_y(dims.y), cross(dims.x), reference(dims.y) {}
};

template <FirstOrderOracle P>
class Hypergradient {
 public:
  using S = ScalarOf<P>;

  explicit Hypergradient(P& p, ReferenceSteps reference = {})
      : work_(p.dims()), reference_(reference), closed_form_(reference.steps == 0 && capabilities_of(p).closed_form) {}

  // False where the gradient cannot be trusted: the reference solve missed its tolerance, g_yy is not positive
  // definite, the linear system was not solved, or a number is not finite.
  bool operator()(P& p, In<S> x, Out<S> gradient) { return (*this)(p, x, work_.y, gradient); }
  // `y` is where reference steps start from.
  bool operator()(P& p, In<S> x, In<S> y, Out<S> gradient) {
    return with_products(p, [&](auto& products, bool exact) {
      if (reference_.steps > 0) {
        descend(p, x, y);
        return differentiate(p, products, exact, x, gradient);
      }
      const bool solved = solve(p, products, x);
      return differentiate(p, products, exact, x, gradient) && solved;
    });
  }

  // Of the last call: finite, and g_yy not singular to rounding.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] const Vector<S>& solution() const { return work_.y; }         // y*(x)
  [[nodiscard]] const Vector<S>& linear_solution() const { return work_.v; }  // v
  [[nodiscard]] double inner_residual() const { return inner_residual_; }     // |g_y(x, y*)|
  [[nodiscard]] bool closed_form() const { return closed_form_; }             // otherwise y* is a reference solve

  // What the next reference solve starts from; nothing else is kept.
  void fields(Archive& a) {
    a("solution", work_.y);
    a.added("usable", usable_);
  }

 private:
  void descend(P& p, In<S> x, In<S> y) {
    work_.y = y;
    for (std::int64_t k = 0; k < reference_.steps; ++k) {
      p.inner_gradient_y(x, work_.y, work_.reference.gradient);
      work_.y -= static_cast<S>(reference_.alpha) * work_.reference.gradient;
    }
    p.inner_gradient_y(x, work_.y, work_.reference.gradient);
    inner_residual_ = euclidean_norm<S>(work_.reference.gradient);
  }

  template <class Products>
  bool solve(P& p, Products& products, In<S> x) {
    if constexpr (ClosedFormOracle<P>) {
      if (closed_form_) {
        p.inner_solution(x, work_.y);
        p.inner_gradient_y(x, work_.y, work_.reference.gradient);
        inner_residual_ = euclidean_norm<S>(work_.reference.gradient);
        return std::isfinite(inner_residual_);
      }
    }
    if (!usable_ || !work_.y.allFinite()) work_.y.setZero();  // one failed round must not spoil the next
    const ReferenceResult result = solve_inner(products, x, work_.y, work_.reference);
    inner_residual_ = result.residual;
    return result.converged;
  }

  template <class Products>
  bool differentiate(P& p, Products& products, bool exact, In<S> x, Out<S> gradient) {
    const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
    // Below the error of its products CG would make no progress.
    const CgOptions damped{
        .max_iterations = reference_.products, .relative_tolerance = 1e-3, .damping = reference_.damping};
    const CgOptions tight{.max_iterations = std::max<std::int64_t>(1000, 4 * work_.y.size()),
                          .relative_tolerance = exact ? 1e-14 : 10.0 * std::pow(epsilon, 2.0 / 3.0)};
    p.outer_gradient_y(x, work_.y, work_.f_y);
    work_.v.setZero();
    const CgResult system =
        conjugate_gradient<S>([&](In<S> u, Out<S> out) { products.inner_hvp_yy(x, work_.y, u, out); }, work_.f_y,
                              work_.v, work_.reference.cg, reference_.steps > 0 ? damped : tight);
    p.outer_gradient_x(x, work_.y, gradient);
    products.inner_hvp_xy(x, work_.y, work_.v, work_.cross);
    gradient -= work_.cross;
    usable_ =
        gradient.allFinite() && (reference_.steps > 0 || !(system.negative_curvature || is_singular(products, x)));
    return (reference_.steps > 0 ? !system.negative_curvature : system.converged) && gradient.allFinite();
  }

  template <class Products>
  bool is_singular(Products& products, In<S> x) {
    const double along_v = inner_product<S>(work_.v, work_.f_y), f_squared = inner_product<S>(work_.f_y, work_.f_y);
    if (f_squared == 0.0 || !(along_v > 0.0)) return false;  // v = 0
    const auto curvature = [&](In<S> y) {
      products.inner_hvp_yy(x, y, work_.f_y, work_.reference.gradient);
      return inner_product<S>(work_.f_y, work_.reference.gradient) / f_squared;
    };
    const double here = curvature(work_.y), origin = curvature(work_.reference.trial.setZero());
    return std::max(here, origin) * static_cast<double>(std::numeric_limits<S>::epsilon()) >
           along_v / inner_product<S>(work_.v, work_.v);
  }

  HypergradientWorkspace<S> work_;
  ReferenceSteps reference_;
  bool closed_form_;
  double inner_residual_ = 0.0;
  bool usable_ = true;
};

}  // namespace obolus
