// One round of the quadratic family, with its oracles:
//     g = ½ y'Ay − y'(Bx + b),     f = ½ w|y − c|² + s Σ_j sin(y_j) + ½ r|x − e|².
// The inner problem has the closed form y*(x) = A⁻¹(Bx + b); the sine makes F non-convex.
//
// Samples: f + <ξ_x, x> + <ξ_y, y> and g + <ζ_x, x> + <ζ_y, y> − y'Ex, with normal ξ, ζ of total variance σ²/B each and
// E of entries with variance σ_E²/B. Additive noise alone cancels between y and z; E is what a shared ζ has to tame.
#pragma once

#include <Eigen/Cholesky>
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
  [[nodiscard]] QuadraticRound<T> cast() const;
};

template <class S>
class QuadraticOracle {
 public:
  using Scalar = S;

  [[nodiscard]] Dims dims() const { return dims_; }

  double outer_value(In<S> x, In<S> y);
  double inner_value(In<S> x, In<S> y);
  void outer_gradient_x(In<S> x, In<S> y, Out<S> d);
  void outer_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d);
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d);
  void inner_hvp_yy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_hvp_xy(In<S> x, In<S> y, In<S> v, Out<S> d);
  void inner_gradient_x_difference(In<S> x, In<S> z, In<S> delta, Out<S> d);
  void inner_gradient_y_difference(In<S> x, In<S> z, In<S> delta, Out<S> d);
  void inner_solution(In<S> x, Out<S> y);

  void resample(SampleSizes sizes, Rng& rng);
  void expectation() { sampled_ = false; }

  void set_threads(int threads);

 protected:
  QuadraticOracle() = default;

  void prepare(Dims dims, double sigma, double sigma_cross);
  // Makes `round` current; `same_matrix` says that A is the one of the round before, so its factor still serves.
  void use(const QuadraticRound<S>& round, bool same_matrix) {
    now_ = &round;
    sampled_ = false;
    factored_ = factored_ && same_matrix;
  }
  [[nodiscard]] const QuadraticRound<S>& now() const { return *now_; }

 private:
  void times_A(In<S> v, Out<S> out);
  void times_B(In<S> x, Out<S> out);
  void product(const Matrix<S>& matrix, In<S> v, Out<S> out);
  void product_in_chunks(const Matrix<S>& matrix, In<S> v, Out<S> out);

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
