// Second-order products of g from its gradients, so that a first-order problem can be given to the HVP baselines and to
// reference hypergradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/capabilities.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Refers to a problem, which must outlive it, and adds
//     g_yy v ≈ [g_y(x, y + hv) − g_y(x, y − hv)] / (2h),     g_xy v ≈ [g_x(x, y + hv) − g_x(x, y − hv)] / (2h),
// two gradients per product. Not for concurrent use: it owns its buffers.
template <FirstOrderOracle P>
class FiniteDifferenceHvp {
 public:
  using Scalar = ScalarOf<P>;

  explicit FiniteDifferenceHvp(P& problem)
      : problem_(&problem), shifted_(dims().y), minus_x_(dims().x), minus_y_(dims().y) {}

  [[nodiscard]] Dims dims() const { return problem_->dims(); }
  [[nodiscard]] Capabilities capabilities() const {
    Capabilities c = capabilities_of(*problem_);
    c.hvp = true;
    return c;
  }
  double outer_value(In<Scalar> x, In<Scalar> y) { return problem_->outer_value(x, y); }
  double inner_value(In<Scalar> x, In<Scalar> y) { return problem_->inner_value(x, y); }
  void outer_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> gx) { problem_->outer_gradient_x(x, y, gx); }
  void outer_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> gy) { problem_->outer_gradient_y(x, y, gy); }
  void inner_gradient_x(In<Scalar> x, In<Scalar> y, Out<Scalar> gx) { problem_->inner_gradient_x(x, y, gx); }
  void inner_gradient_y(In<Scalar> x, In<Scalar> y, Out<Scalar> gy) { problem_->inner_gradient_y(x, y, gy); }

  void inner_hvp_yy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> gy) {
    central(y, v, gy, minus_y_, [&](In<Scalar> at, Out<Scalar> out) { problem_->inner_gradient_y(x, at, out); });
  }
  void inner_hvp_xy(In<Scalar> x, In<Scalar> y, In<Scalar> v, Out<Scalar> gx) {
    central(y, v, gx, minus_x_, [&](In<Scalar> at, Out<Scalar> out) { problem_->inner_gradient_x(x, at, out); });
  }

  void reveal(Round t)
    requires Stream<P>
  {
    problem_->reveal(t);
  }
  // A product uses one sample at both points: `resample` holds for every point asked until the next.
  void resample(SampleSizes sizes, Rng& rng)
    requires StochasticOracle<P>
  {
    problem_->resample(sizes, rng);
  }
  void expectation()
    requires StochasticOracle<P>
  {
    problem_->expectation();
  }
  void inner_solution(In<Scalar> x, Out<Scalar> y)
    requires ClosedFormOracle<P>
  {
    problem_->inner_solution(x, y);
  }
  void inner_gradient_x_difference(In<Scalar> x, In<Scalar> z, In<Scalar> delta, Out<Scalar> gx)
    requires DifferenceOracle<P>
  {
    problem_->inner_gradient_x_difference(x, z, delta, gx);
  }
  void inner_gradient_y_difference(In<Scalar> x, In<Scalar> z, In<Scalar> delta, Out<Scalar> gy)
    requires DifferenceOracle<P>
  {
    problem_->inner_gradient_y_difference(x, z, delta, gy);
  }

 private:
  // With s = h|v| the length of the shift, the error relative to |v| is s² M/6 from the third derivative's bound M and
  // ε G/s from gradients of size G rounded to ε. Their sum is least at s = (3 ε G/M)^(1/3): the cube root of ε, times
  // the length over which the gradient changes, estimated by max(1, |y|). Both errors are then of order ε^(2/3),
  // 4e-11 in double and 2e-5 in float.
  static double half_width(In<Scalar> y, double v_norm) {
    const double epsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    return std::cbrt(epsilon) * std::max(1.0, euclidean_norm<Scalar>(y)) / v_norm;
  }

  template <class Gradient>
  void central(In<Scalar> y, In<Scalar> v, Out<Scalar> out, Vector<Scalar>& minus, Gradient&& gradient) {
    const double v_norm = euclidean_norm<Scalar>(v);
    if (v_norm == 0.0) {
      out.setZero();
      return;
    }
    const double h = half_width(y, v_norm);
    shift(y, v, -h);
    gradient(shifted_, minus);
    shift(y, v, h);
    gradient(shifted_, out);
    for (Index i = 0; i < out.size(); ++i)
      out(i) = static_cast<Scalar>((static_cast<double>(out(i)) - static_cast<double>(minus(i))) / (2.0 * h));
  }

  void shift(In<Scalar> y, In<Scalar> v, double h) {
    for (Index i = 0; i < y.size(); ++i)
      shifted_(i) = static_cast<Scalar>(static_cast<double>(y(i)) + h * static_cast<double>(v(i)));
  }

  P* problem_;
  Vector<Scalar> shifted_, minus_x_, minus_y_;
};

// body(q, exact): q is p where p has products of its own (exact), else p with differences for products.
template <FirstOrderOracle P, class Body>
auto with_products(P& p, Body&& body) {
  if constexpr (HvpOracle<P>) {
    if (capabilities_of(p).hvp) return body(p, true);
  }
  FiniteDifferenceHvp<P> differences(p);
  return body(differences, false);
}

}  // namespace obolus
