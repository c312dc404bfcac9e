// A toy of what large sparse problems do: inner iterates are n rows of k numbers with one scale each, θ_i = s_i v_i.
//     g_t = ½ Σ_{i ∈ I_t} |θ_i − a_i|² + ½ Σ_i x_i |θ_i|²,   f_t = ½ Σ_{i ∈ I_t} |θ_i − b_i|² + ½ r|x − 1|².
// Only the few rows of I_t meet data. A gradient step multiplies every other row by a number, which goes into s_i.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/types.hpp"

namespace obolus::test {

template <class S>
struct ScaledRows {
  Vector<S> scale;         // s
  Vector<S> values;        // v, row after row
  Vector<double> squared;  // |v_i|²

  void fields(Archive& a) { a("scale", scale), a("values", values), a("squared", squared); }
};

template <class S = double>
class LazyRidge {
 public:
  using Scalar = S;
  using Inner = ScaledRows<S>;

  LazyRidge(Index rows, Index width, Index touched, std::uint64_t seed)
      : n_(rows),
        k_(width),
        rng_(seed),
        a_(Vector<S>::Zero(rows * width)),
        b_(a_),
        order_(std::size_t(rows)),
        touched_(std::size_t(rows)),
        count_(touched) {
    reveal(1);
  }

  [[nodiscard]] Dims dims() const { return {n_, n_ * k_}; }
  void reveal(Round t) {
    Rng rng = rng_.child("round", std::uint64_t(t));
    for (Index i = 0; i < n_; ++i) order_[std::size_t(i)] = i;
    rng.shuffle(order_);
    touched_.assign(std::size_t(n_), false);
    for (Index j = 0; j < count_; ++j) {
      const Index i = order_[std::size_t(j)];
      touched_[std::size_t(i)] = true;
      rng.fill_normal(row(a_, i));
      rng.fill_normal(row(b_, i));
    }
  }
  [[nodiscard]] bool touched(Index i) const { return touched_[std::size_t(i)]; }
  [[nodiscard]] std::int64_t row_visits() const { return visits_; }  // rows whose k numbers a primitive looked at

  double outer_value(In<S> x, In<S> y) const {
    double value = 0.5 * double(ridge) * (x.array() - S(1)).matrix().squaredNorm();
    for (Index i = 0; i < n_; ++i)
      if (touched(i)) value += 0.5 * double((row(y, i) - row(b_, i)).squaredNorm());
    return value;
  }
  double inner_value(In<S> x, In<S> y) const {
    double value = 0.0;
    for (Index i = 0; i < n_; ++i) {
      value += 0.5 * double(x(i) * row(y, i).squaredNorm());
      if (touched(i)) value += 0.5 * double((row(y, i) - row(a_, i)).squaredNorm());
    }
    return value;
  }
  void outer_gradient_x(In<S> x, In<S>, Out<S> d) const { d = ridge * (x.array() - S(1)).matrix(); }
  void outer_gradient_y(In<S>, In<S> y, Out<S> d) const {
    d.setZero();
    for (Index i = 0; i < n_; ++i)
      if (touched(i)) row(d, i) = row(y, i) - row(b_, i);
  }
  void inner_gradient_x(In<S>, In<S> y, Out<S> d) const {
    for (Index i = 0; i < n_; ++i) d(i) = S(0.5) * row(y, i).squaredNorm();
  }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) const {
    inner_hvp_yy(x, y, y, d);
    for (Index i = 0; i < n_; ++i)
      if (touched(i)) row(d, i) -= row(a_, i);
  }
  void inner_hvp_yy(In<S> x, In<S>, In<S> v, Out<S> d) const {
    for (Index i = 0; i < n_; ++i) row(d, i) = (x(i) + (touched(i) ? S(1) : S(0))) * row(v, i);
  }
  void inner_hvp_xy(In<S>, In<S> y, In<S> v, Out<S> d) const {
    for (Index i = 0; i < n_; ++i) d(i) = row(y, i).dot(row(v, i));
  }
  void inner_gradient_x_difference(In<S>, In<S> z, In<S> delta, Out<S> d) const {
    for (Index i = 0; i < n_; ++i) d(i) = row(delta, i).dot(row(z, i) + S(0.5) * row(delta, i));
  }
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d) const { inner_hvp_yy(x, z, delta, d); }
  void inner_solution(In<S> x, Out<S> y) const {
    for (Index i = 0; i < n_; ++i)
      row(y, i) = touched(i) ? (row(a_, i) / (x(i) + S(1))).eval() : Vector<S>::Zero(k_).eval();
  }

  [[nodiscard]] Inner make_inner() const {
    return {Vector<S>::Ones(n_), Vector<S>::Zero(n_ * k_), Vector<double>::Zero(n_)};
  }
  void to_dense(const Inner& inner, Out<S> out) const {
    for (Index i = 0; i < n_; ++i) row(out, i) = inner.scale(i) * row(inner.values, i);
  }
  void from_dense(In<S> in, Inner& inner) const {
    inner.scale.setOnes();
    inner.values = in;
    for (Index i = 0; i < n_; ++i) inner.squared(i) = squared(row(inner.values, i));
  }
  void copy(const Inner& from, Inner& to) const {
    to.scale = from.scale;
    to.values = from.values;
    to.squared = from.squared;
  }
  void axpy(double a, const Inner& from, Inner& to) {
    for (Index i = 0; i < n_; ++i) {
      collect(to, i);
      row(to.values, i) += S(a) * from.scale(i) * row(from.values, i);
      to.squared(i) = squared(row(to.values, i));
    }
  }
  void descend(In<S> x, Inner& z, double alpha) {
    for (Index i = 0; i < n_; ++i) step(x, z, i, 0.0, alpha);
  }
  void descend_penalised(In<S> x, Inner& y, double beta, Penalty penalty) {
    for (Index i = 0; i < n_; ++i) step(x, y, i, beta * penalty.f, beta * penalty.g);
  }
  void descend_pair(In<S> x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha) {
    for (Index i = 0; i < n_; ++i) {
      step(x, z, i, 0.0, alpha);
      step(x, y, i, beta * penalty.f, beta * penalty.g);
    }
  }
  [[nodiscard]] double gradient_norm(In<S> x, const Inner& z) { return penalised_gradient_norm(x, z, {0.0, 1.0}); }
  [[nodiscard]] double penalised_gradient_norm(In<S> x, const Inner& y, Penalty penalty) {
    double sum = 0.0;
    for (Index i = 0; i < n_; ++i) {
      const double s = double(y.scale(i)), pull = penalty.g * double(x(i));
      if (!touched(i)) {
        sum += pull * pull * s * s * y.squared(i);
        continue;
      }
      ++visits_;
      const auto theta = (s * row(y.values, i).template cast<double>()).eval();
      sum += (penalty.f * (theta - row(b_, i).template cast<double>()) + pull * theta +
              penalty.g * (theta - row(a_, i).template cast<double>()))
                 .squaredNorm();
    }
    return std::sqrt(sum);
  }
  void penalty_direction(In<S> x, const Inner& y, const Inner& z, double lambda, Out<S> d) {
    for (Index i = 0; i < n_; ++i) {
      const auto u = y.scale(i) * row(y.values, i), v = z.scale(i) * row(z.values, i);
      d(i) = ridge * (x(i) - S(1)) + S(0.5 * lambda) * (u - v).dot(u + v);
    }
    visits_ += n_;
  }

 private:
  static constexpr S ridge = S(0.1);

  template <class V>
  auto row(V& v, Index i) const {
    return v.segment(i * k_, k_);
  }
  template <class V>
  static double squared(const V& v) {
    return v.template cast<double>().squaredNorm();
  }

  // θ_i = v_i from here on.
  void collect(Inner& inner, Index i) {
    ++visits_;
    row(inner.values, i) *= inner.scale(i);
    inner.scale(i) = S(1);
    inner.squared(i) = squared(row(inner.values, i));
  }

  // θ_i ← θ_i − on_f ∂f/∂θ_i − on_g ∂g/∂θ_i
  void step(In<S> x, Inner& inner, Index i, double on_f, double on_g) {
    const S keep = S(1) - S(on_g) * x(i);
    if (!touched(i)) {
      inner.scale(i) *= keep;
      if (std::abs(inner.scale(i)) < S(1e-6)) collect(inner, i);  // long before it could underflow
      return;
    }
    collect(inner, i);
    const auto theta = row(inner.values, i).eval();
    row(inner.values, i) = keep * theta - S(on_g) * (theta - row(a_, i)) - S(on_f) * (theta - row(b_, i));
    inner.squared(i) = squared(row(inner.values, i));
  }

  Index n_, k_;
  Rng rng_;
  Vector<S> a_, b_;
  std::vector<Index> order_;
  std::vector<bool> touched_;
  Index count_;
  std::int64_t visits_ = 0;
};

}  // namespace obolus::test
