// The longer defaults of `InnerSpace`, on dense vectors: they define what the primitives mean.
#pragma once

#include "obolus/core/inner_storage.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::detail {

template <FirstOrderOracle P>
class InnerDefinitions {
 protected:
  using S = ScalarOf<P>;

  explicit InnerDefinitions(Dims dims)
      : f_(dims.y), g_(dims.y), point_(dims.y), delta_(dims.y), x_difference_(dims.x), x_gradient_(dims.x) {}

  // f_ ← penalty.f · f_y + penalty.g · g_y
  void penalised_gradient(P& p, In<S> x, const Vector<S>& y, Penalty penalty) {
    p.outer_gradient_y(x, y, f_);
    p.inner_gradient_y(x, y, g_);
    combine<S>(f_, S(penalty.f), f_, S(penalty.g), g_);
  }

  void descend_dual_dense(P& p, In<S> x, Vector<S>& z, Vector<S>& w, DualStep step) {
    const S scaled_beta = S(step.lambda * step.beta);
    const S alpha = S(step.alpha);
    scale<S>(delta_, S(1.0 / step.lambda), w);
    shift<S>(point_, z, S(1), delta_);
    p.outer_gradient_y(x, point_, f_);
    add_scaled<S>(w, -scaled_beta, f_);
    p.inner_gradient_y(x, z, g_);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_y_difference(x, z, delta_, f_);
    } else {
      p.inner_gradient_y(x, point_, f_);
      add_scaled<S>(f_, S(-1), g_);
    }
    combine<S>(f_, scaled_beta, f_, scaled_beta - alpha, g_);
    add_scaled<S>(w, -S(step.lambda), f_);
    add_scaled<S>(z, -alpha, g_);
  }

  void descend_central_dense(P& p, In<S> x, Vector<S>& c, Vector<S>& w, CentralStep step) {
    const S half_beta = S(0.5 * step.beta), half_scaled = S(0.5 * step.lambda * step.beta), lambda = S(step.lambda);
    scale<S>(delta_, S(1.0 / step.lambda), w);
    shift<S>(point_, c, S(-1), delta_);  // y_−1
    p.outer_gradient_y(x, point_, f_);
    add_scaled<S>(c, half_beta, f_);
    add_scaled<S>(w, -half_scaled, f_);
    p.inner_gradient_y(x, point_, g_);
    add_scaled<S>(c, -(half_beta * lambda), g_);
    scale<S>(delta_, S(2), delta_);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_y_difference(x, point_, delta_, f_);
      add_scaled<S>(point_, S(1), delta_);  // y_1
    } else {
      add_scaled<S>(point_, S(1), delta_);
      p.inner_gradient_y(x, point_, f_);
      add_scaled<S>(f_, S(-1), g_);
    }
    add_scaled<S>(g_, S(1), f_);
    add_scaled<S>(c, -(half_beta * lambda), g_);
    add_scaled<S>(w, -(half_scaled * lambda), f_);
    p.outer_gradient_y(x, point_, f_);
    add_scaled<S>(c, -half_beta, f_);
    add_scaled<S>(w, -half_scaled, f_);
  }

  // `delta_` holds y − z on entry.
  void direction_dense(P& p, In<S> x, const Vector<S>& y, const Vector<S>& z, double lambda, Out<S> d) {
    p.outer_gradient_x(x, y, d);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_x_difference(x, z, delta_, x_difference_);
    } else {
      p.inner_gradient_x(x, y, x_difference_);
      p.inner_gradient_x(x, z, x_gradient_);
      add_scaled<S>(x_difference_, S(-1), x_gradient_);
    }
    add_scaled<S>(d, S(lambda), x_difference_);
  }

  Vector<S> f_, g_, point_, delta_;      // gradients in y of f and g; y and y − z
  Vector<S> x_difference_, x_gradient_;  // gradients of g in x
};

}  // namespace obolus::detail
