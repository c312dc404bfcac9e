#include "obolus/problems/quadratic_oracle.hpp"

#include <algorithm>
#include <cmath>

namespace obolus {
namespace {

template <class S, class M>
void fill(M& m, double deviation, Rng& rng) {
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = S(deviation * rng.normal());
}
template <class U, class V>
double dot(const Eigen::MatrixBase<U>& u, const Eigen::MatrixBase<V>& v) {
  return u.template cast<double>().dot(v.template cast<double>());
}
template <class U>
double squared(const Eigen::MatrixBase<U>& u) {
  return u.template cast<double>().squaredNorm();
}

}  // namespace

template <class S>
template <class T>
QuadraticRound<T> QuadraticRound<S>::cast() const {
  return {A.template cast<T>(),
          B.template cast<T>(),
          b.template cast<T>(),
          c.template cast<T>(),
          e.template cast<T>(),
          T(w),
          T(s),
          T(r)};
}

// Rows are cut into chunks of a fixed height; below the threshold waking a thread costs more than the product.
constexpr Index chunk = 64, parallel_from = 192;

template <class S>
void QuadraticOracle<S>::product_in_chunks(const Matrix<S>& matrix, In<S> v, Out<S> out) {
  const auto rows = [&](Index i) {
    const Index first = i * chunk, count = std::min(chunk, matrix.rows() - first);
    out.segment(first, count).noalias() = matrix.middleRows(first, count) * v;
  };
  const Index chunks = (matrix.rows() + chunk - 1) / chunk;
  if (pool_) pool_->run(chunks, rows);
  else
    for (Index i = 0; i < chunks; ++i) rows(i);
}
// Inline: on small problems calls cost as much as products.
template <class S>
inline void QuadraticOracle<S>::product(const Matrix<S>& matrix, In<S> v, Out<S> out) {
  if (matrix.rows() < parallel_from) out.noalias() = matrix * v;
  else product_in_chunks(matrix, v, out);
}
template <class S>
inline void QuadraticOracle<S>::times_A(In<S> v, Out<S> out) {
  product(now_->A, v, out);
}
template <class S>
inline void QuadraticOracle<S>::times_B(In<S> x, Out<S> out) {
  product(now_->B, x, out);
  if (sampled_ && sigma_cross_ > 0) out.noalias() += E_ * x;
}

template <class S>
double QuadraticOracle<S>::outer_value(In<S> x, In<S> y) {
  double value = 0.5 * double(now_->w) * squared(y - now_->c) + 0.5 * double(now_->r) * squared(x - now_->e);
  if (now_->s != S(0)) value += double(now_->s) * y.array().sin().template cast<double>().sum();
  if (sampled_) value += dot(xi_x_, x) + dot(xi_y_, y);
  return value;
}
template <class S>
double QuadraticOracle<S>::inner_value(In<S> x, In<S> y) {
  times_A(y, work_);
  double value = 0.5 * dot(y, work_) - dot(y, now_->b);
  times_B(x, work_);
  value -= dot(y, work_);
  if (sampled_) value += dot(zeta_x_, x) + dot(zeta_y_, y);
  return value;
}
template <class S>
void QuadraticOracle<S>::outer_gradient_x(In<S> x, In<S>, Out<S> d) {
  d = now_->r * (x - now_->e);
  if (sampled_) d += xi_x_;
}
template <class S>
void QuadraticOracle<S>::outer_gradient_y(In<S>, In<S> y, Out<S> d) {
  if (now_->s == S(0)) d = now_->w * (y - now_->c);
  else d = now_->w * (y - now_->c) + now_->s * y.array().cos().matrix();
  if (sampled_) d += xi_y_;
}
template <class S>
void QuadraticOracle<S>::inner_gradient_x(In<S>, In<S> y, Out<S> d) {
  inner_hvp_xy(y, y, y, d);
  if (sampled_) d += zeta_x_;
}
template <class S>
void QuadraticOracle<S>::inner_gradient_y(In<S> x, In<S> y, Out<S> d) {
  times_A(y, d);
  times_B(x, work_);
  d -= work_ + now_->b;
  if (sampled_) d += zeta_y_;
}
template <class S>
void QuadraticOracle<S>::inner_hvp_yy(In<S>, In<S>, In<S> v, Out<S> d) {
  times_A(v, d);
}
template <class S>
void QuadraticOracle<S>::inner_hvp_xy(In<S>, In<S>, In<S> v, Out<S> d) {
  d.noalias() = -now_->B.transpose() * v;
  if (sampled_ && sigma_cross_ > 0) d.noalias() -= E_.transpose() * v;
}
template <class S>
void QuadraticOracle<S>::inner_gradient_x_difference(In<S>, In<S>, In<S> delta, Out<S> d) {
  inner_hvp_xy(delta, delta, delta, d);
}
template <class S>
void QuadraticOracle<S>::inner_gradient_y_difference(In<S>, In<S>, In<S> delta, Out<S> d) {
  times_A(delta, d);
}

template <class S>
void QuadraticOracle<S>::inner_solution(In<S> x, Out<S> y) {
  if (!factored_) {
    factor_.compute(now_->A);
    factored_ = true;
  }
  product(now_->B, x, work_);  // of the expected g, whatever is sampled
  y = work_ + now_->b;
  factor_.solveInPlace(y);
}

template <class S>
void QuadraticOracle<S>::resample(SampleSizes sizes, Rng& rng) {
  sampled_ = sigma_ > 0 || sigma_cross_ > 0;
  if (!sampled_) return;
  const double each = sigma_ / std::sqrt(double(dims_.x + dims_.y));
  const double outer = each / std::sqrt(double(sizes.outer)), inner = each / std::sqrt(double(sizes.inner));
  fill<S>(xi_x_, outer, rng);
  fill<S>(xi_y_, outer, rng);
  fill<S>(zeta_x_, inner, rng);
  fill<S>(zeta_y_, inner, rng);
  if (sigma_cross_ > 0) fill<S>(E_, sigma_cross_ / std::sqrt(double(sizes.inner)), rng);
}

template <class S>
void QuadraticOracle<S>::set_threads(int threads) {
  pool_ = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr;
}

template <class S>
void QuadraticOracle<S>::prepare(Dims dims, double sigma, double sigma_cross) {
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

template QuadraticRound<double> QuadraticRound<double>::cast() const;
template QuadraticRound<float> QuadraticRound<double>::cast() const;
template class QuadraticOracle<double>;
template class QuadraticOracle<float>;

}  // namespace obolus
