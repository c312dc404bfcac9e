// The longer defaults of `InnerSpace`, on dense vectors: they define what the primitives mean.
#pragma once

#include "obolus/core/inner_storage.hpp"
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
    f_ = S(penalty.f) * f_ + S(penalty.g) * g_;
  }

  void descend_dual_dense(P& p, In<S> x, Vector<S>& z, Vector<S>& w, DualStep step) {
    const S scaled_beta = S(step.lambda * step.beta);
    const S alpha = S(step.alpha);
    delta_.noalias() = S(1.0 / step.lambda) * w;
    point_.noalias() = z + delta_;
    p.outer_gradient_y(x, point_, f_);
    w.noalias() -= scaled_beta * f_;
    p.inner_gradient_y(x, z, g_);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_y_difference(x, z, delta_, f_);
    } else {
      p.inner_gradient_y(x, point_, f_);
      f_ -= g_;
    }
    w.noalias() -= S(step.lambda) * (scaled_beta * f_ + (scaled_beta - alpha) * g_);
    z.noalias() -= alpha * g_;
  }

  void descend_central_dense(P& p, In<S> x, Vector<S>& c, Vector<S>& w, CentralStep step) {
    const S half_beta = S(0.5 * step.beta), half_scaled = S(0.5 * step.lambda * step.beta), lambda = S(step.lambda);
    delta_.noalias() = S(1.0 / step.lambda) * w;
    point_.noalias() = c - delta_;  // y_−1
    p.outer_gradient_y(x, point_, f_);
    c.noalias() += half_beta * f_;
    w.noalias() -= half_scaled * f_;
    p.inner_gradient_y(x, point_, g_);
    c.noalias() -= (half_beta * lambda) * g_;
    delta_ *= S(2);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_y_difference(x, point_, delta_, f_);
      point_ += delta_;  // y_1
    } else {
      point_ += delta_;
      p.inner_gradient_y(x, point_, f_);
      f_ -= g_;
    }
    c.noalias() -= (half_beta * lambda) * (g_ + f_);
    w.noalias() -= (half_scaled * lambda) * f_;
    p.outer_gradient_y(x, point_, f_);
    c.noalias() -= half_beta * f_;
    w.noalias() -= half_scaled * f_;
  }

  // `delta_` holds y − z on entry.
  void direction_dense(P& p, In<S> x, const Vector<S>& y, const Vector<S>& z, double lambda, Out<S> d) {
    p.outer_gradient_x(x, y, d);
    if constexpr (DifferenceOracle<P>) {
      p.inner_gradient_x_difference(x, z, delta_, x_difference_);
    } else {
      p.inner_gradient_x(x, y, x_difference_);
      p.inner_gradient_x(x, z, x_gradient_);
      x_difference_ -= x_gradient_;
    }
    d.noalias() += S(lambda) * x_difference_;
  }

  Vector<S> f_, g_, point_, delta_;      // gradients in y of f and g; y and y − z
  Vector<S> x_difference_, x_gradient_;  // gradients of g in x
};

}  // namespace obolus::detail
