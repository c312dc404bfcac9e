// One round of the quadratic family, with its oracles:
//     g = ½ y'Ay − y'(Bx + b),     f = ½ w|y − c|² + s Σ_j sin(y_j) + ½ r|x − e|².
// The inner problem has the closed form y*(x) = A⁻¹(Bx + b); the sine makes F non-convex.
//
// Samples: f + <ξ_x, x> + <ξ_y, y> and g + <ζ_x, x> + <ζ_y, y> − y'Ex, with normal ξ, ζ of total variance σ²/B each and
// E of entries with variance σ_E²/B. Additive noise alone cancels between y and z; E is what a shared ζ has to tame.
#pragma once

#include <Eigen/Cholesky>
#include <cmath>
#include <memory>

#include "obolus/core/knowledge.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/parallel.hpp"

namespace obolus {

template <class S>
struct QuadraticRound {
  Matrix<S> A, B;
  Vector<S> b, c, e;
  S w = 1, s = 0, r = 0;

  template <class T>
  [[nodiscard]] QuadraticRound<T> cast() const {
    return {A.template cast<T>(),
            B.template cast<T>(),
            b.template cast<T>(),
            c.template cast<T>(),
            e.template cast<T>(),
            T(w),
            T(s),
            T(r)};
  }
};

template <class S>
class QuadraticOracle {
 public:
  using Scalar = S;

  [[nodiscard]] Dims dims() const { return dims_; }

  double outer_value(In<S> x, In<S> y) {
    double value = 0.5 * double(now_->w) * squared(y - now_->c) + 0.5 * double(now_->r) * squared(x - now_->e);
    if (now_->s != S(0)) value += double(now_->s) * y.array().sin().template cast<double>().sum();
    if (sampled_) value += dot(xi_x_, x) + dot(xi_y_, y);
    return value;
  }
  double inner_value(In<S> x, In<S> y) {
    times_A(y, work_);
    double value = 0.5 * dot(y, work_) - dot(y, now_->b);
    times_B(x, work_);
    value -= dot(y, work_);
    if (sampled_) value += dot(zeta_x_, x) + dot(zeta_y_, y);
    return value;
  }
  void outer_gradient_x(In<S> x, In<S>, Out<S> d) {
    d = now_->r * (x - now_->e);
    if (sampled_) d += xi_x_;
  }
  void outer_gradient_y(In<S>, In<S> y, Out<S> d) {
    if (now_->s == S(0)) d = now_->w * (y - now_->c);
    else d = now_->w * (y - now_->c) + now_->s * y.array().cos().matrix();
    if (sampled_) d += xi_y_;
  }
  void inner_gradient_x(In<S>, In<S> y, Out<S> d) {
    inner_hvp_xy(y, y, y, d);
    if (sampled_) d += zeta_x_;
  }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) {
    times_A(y, d);
    times_B(x, work_);
    d -= work_ + now_->b;
    if (sampled_) d += zeta_y_;
  }
  void inner_hvp_yy(In<S>, In<S>, In<S> v, Out<S> d) { times_A(v, d); }
  void inner_hvp_xy(In<S>, In<S>, In<S> v, Out<S> d) {
    d.noalias() = -now_->B.transpose() * v;
    if (sampled_ && sigma_cross_ > 0) d.noalias() -= E_.transpose() * v;
  }
  void inner_gradient_x_difference(In<S>, In<S>, In<S> delta, Out<S> d) { inner_hvp_xy(delta, delta, delta, d); }
  void inner_gradient_y_difference(In<S>, In<S>, In<S> delta, Out<S> d) { times_A(delta, d); }

  void inner_solution(In<S> x, Out<S> y) {
    if (!factored_) {
      factor_.compute(now_->A);
      factored_ = true;
    }
    product(now_->B, x, work_);  // of the expected g, whatever is sampled
    y = work_ + now_->b;
    factor_.solveInPlace(y);
  }

  void resample(SampleSizes sizes, Rng& rng) {
    sampled_ = sigma_ > 0 || sigma_cross_ > 0;
    if (!sampled_) return;
    const double each = sigma_ / std::sqrt(double(dims_.x + dims_.y));
    const double outer = each / std::sqrt(double(sizes.outer)), inner = each / std::sqrt(double(sizes.inner));
    fill(xi_x_, outer, rng);
    fill(xi_y_, outer, rng);
    fill(zeta_x_, inner, rng);
    fill(zeta_y_, inner, rng);
    if (sigma_cross_ > 0) fill(E_, sigma_cross_ / std::sqrt(double(sizes.inner)), rng);
  }
  void expectation() { sampled_ = false; }

  void set_threads(int threads) { pool_ = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr; }

 protected:
  QuadraticOracle() = default;

  void prepare(Dims dims, double sigma, double sigma_cross) {
    dims_ = dims;
    sigma_ = sigma;
    sigma_cross_ = sigma_cross;
    work_.resize(dims.y);
    xi_x_.setZero(dims.x);
    zeta_x_.setZero(dims.x);
    xi_y_.setZero(dims.y);
    zeta_y_.setZero(dims.y);
    E_.setZero(sigma_cross > 0 ? dims.y : 0, sigma_cross > 0 ? dims.x : 0);
  }
  // Makes `round` current; `same_matrix` says that A is the one of the round before, so its factor still serves.
  void use(const QuadraticRound<S>& round, bool same_matrix) {
    now_ = &round;
    sampled_ = false;
    factored_ = factored_ && same_matrix;
  }
  [[nodiscard]] const QuadraticRound<S>& now() const { return *now_; }

 private:
  // Rows are cut into chunks of a fixed height; below the threshold waking a thread costs more than the product.
  static constexpr Index chunk = 64, parallel_from = 192;

  void times_A(In<S> v, Out<S> out) { product(now_->A, v, out); }
  void times_B(In<S> x, Out<S> out) {
    product(now_->B, x, out);
    if (sampled_ && sigma_cross_ > 0) out.noalias() += E_ * x;
  }
  void product(const Matrix<S>& matrix, In<S> v, Out<S> out) {
    if (matrix.rows() < parallel_from) {
      out.noalias() = matrix * v;
      return;
    }
    const auto rows = [&](Index i) {
      const Index first = i * chunk, count = std::min(chunk, matrix.rows() - first);
      out.segment(first, count).noalias() = matrix.middleRows(first, count) * v;
    };
    const Index chunks = (matrix.rows() + chunk - 1) / chunk;
    if (pool_) pool_->run(chunks, rows);
    else
      for (Index i = 0; i < chunks; ++i) rows(i);
  }
  template <class M>
  static void fill(M& m, double deviation, Rng& rng) {
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = S(deviation * rng.normal());
  }
  template <class U, class V>
  static double dot(const Eigen::MatrixBase<U>& u, const Eigen::MatrixBase<V>& v) {
    return u.template cast<double>().dot(v.template cast<double>());
  }
  template <class U>
  static double squared(const Eigen::MatrixBase<U>& u) {
    return u.template cast<double>().squaredNorm();
  }

  Dims dims_;
  const QuadraticRound<S>* now_ = nullptr;
  Eigen::LLT<Matrix<S>> factor_;
  bool factored_ = false, sampled_ = false;
  double sigma_ = 0, sigma_cross_ = 0;
  Vector<S> work_, xi_x_, xi_y_, zeta_x_, zeta_y_;
  Matrix<S> E_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace obolus
