// A small problem with every capability and nothing quadratic about it, right in every part. Tests derive from it and
// break one thing.
//     f_t = ½|y − c_t|² + <x, My> + ½|x|²,   g_t = Σ_i (cosh y_i + ½ y_i²) − <y, B sin x>,   c_t = cos(t + 0, 1, 2).
// Samples add <ξ, y> to f and <ζ, y> to g.
#pragma once

#include <cmath>

#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus::test {

template <class S = double>
class SoundProblem {
 public:
  using Scalar = S;

  SoundProblem() { reveal(1); }

  [[nodiscard]] Dims dims() const { return {2, 3}; }
  void reveal(Round t) {
    for (Index i = 0; i < 3; ++i) c_(i) = S(std::cos(double(t + i)));
    expectation();
  }

  double outer_value(In<S> x, In<S> y) const {
    return double(S(0.5) * (y - c_).squaredNorm() + x.dot(M_ * y) + S(0.5) * x.squaredNorm() + xi_.dot(y));
  }
  double inner_value(In<S> x, In<S> y) const {
    return double((y.array().cosh() + S(0.5) * y.array().square()).sum() - y.dot(B_ * sine(x)) + zeta_.dot(y));
  }
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d) const { d = M_ * y + x; }
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d) const { d = y - c_ + M_.transpose() * x + xi_; }
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d) const { inner_hvp_xy(x, y, y, d); }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) const { d = y.array().sinh().matrix() + y - B_ * sine(x) + zeta_; }
  void inner_hvp_yy(In<S>, In<S> y, In<S> v, Out<S> d) const { d = ((y.array().cosh() + S(1)) * v.array()).matrix(); }
  void inner_hvp_xy(In<S> x, In<S>, In<S> v, Out<S> d) const {
    d = -(x.array().cos() * (B_.transpose() * v).array()).matrix();
  }
  void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) const { inner_hvp_xy(x, z, delta, d); }
  void inner_gradient_y_difference(In<S>, In<S> z, In<S> delta, Out<S> d) const {
    const auto half = S(0.5) * delta.array();
    d = (S(2) * (z.array() + half).cosh() * half.sinh() + delta.array()).matrix();
  }

  void resample(SampleSizes sizes, Rng& rng) {
    for (S& v : xi_) v = S(0.3 * rng.normal() / std::sqrt(double(sizes.outer)));
    for (S& v : zeta_) v = S(0.3 * rng.normal() / std::sqrt(double(sizes.inner)));
  }
  void expectation() { xi_.setZero(), zeta_.setZero(); }

 protected:
  static Vector<S> sine(In<S> x) { return x.array().sin().matrix(); }

  Vector<S> c_ = Vector<S>::Zero(3), xi_ = Vector<S>::Zero(3), zeta_ = Vector<S>::Zero(3);
  Matrix<S> B_ = (Matrix<S>(3, 2) << S(1), S(-0.5), S(0.25), S(1), S(-1), S(0.5)).finished();
  Matrix<S> M_ = (Matrix<S>(2, 3) << S(0.5), S(-1), S(0.2), S(0.7), S(0.1), S(-0.4)).finished();
};

}  // namespace obolus::test
