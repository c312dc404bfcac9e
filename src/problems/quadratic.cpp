#include "obolus/problems/quadratic.hpp"

#include <cmath>

#include "obolus/core/norm.hpp"
#include "problems/spectrum.hpp"

namespace obolus {
namespace {

void fill_unit(Rng rng, Vector<double>& v) {
  for (double& entry : v) entry = rng.normal();
  v /= v.norm();
}

Matrix<double> normal(Rng rng, Index rows, Index cols) {
  Matrix<double> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = rng.normal();
  return m;
}

// Eigenvalues from μ to μ·condition in equal ratios, in a random basis.
Matrix<double> curvature(const QuadraticOptions& o, const Rng& rng) {
  Vector<double> spectrum(o.dim_y);
  for (Index i = 0; i < o.dim_y; ++i)
    spectrum[i] = o.mu * std::pow(o.condition, o.dim_y == 1 ? 0.0 : double(i) / double(o.dim_y - 1));
  const Matrix<double> Q = orthogonal_factor(normal(rng, o.dim_y, o.dim_y));
  const Matrix<double> A = Q * spectrum.asDiagonal() * Q.transpose();
  return 0.5 * (A + A.transpose());
}

// Spectral norm `coupling`.
Matrix<double> coupling(const QuadraticOptions& o, const Rng& rng) {
  const Matrix<double> B = normal(rng, o.dim_y, o.dim_x);
  return o.coupling / std::sqrt(eigenvalues(B.transpose() * B).maxCoeff()) * B;
}

}  // namespace

QuadraticGenerator::QuadraticGenerator(const QuadraticOptions& options, std::uint64_t seed)
    : options_(options), rng_(Rng(seed).child("quadratic")) {
  validate(options_, "problem");
  const Index d1 = options_.dim_x, d2 = options_.dim_y;
  base_.A = curvature(options_, rng_.child("basis"));
  base_.B = coupling(options_, rng_.child("coupling"));
  base_.b = normal(rng_.child("b"), d2, 1) / std::sqrt(double(d2));
  base_.c = normal(rng_.child("c"), d2, 1) / std::sqrt(double(d2));
  base_.e = normal(rng_.child("e"), d1, 1) / std::sqrt(double(d1));
  base_.w = options_.weight;
  base_.s = options_.sine;
  base_.r = options_.ridge;
  unit_.resize(d2);
  fill_unit(rng_.child("direction"), unit_);
  factor_.compute(base_.A);
}

void QuadraticGenerator::displacement(Round t, Vector<double>& u) const {
  const double a = options_.amplitude;
  u.setZero(options_.dim_y);
  switch (options_.drift) {
    case Drift::none: break;
    case Drift::slow: u = a * std::sin(std::log(static_cast<double>(t))) * unit_; break;
    case Drift::abrupt: {
      const auto segment = static_cast<std::uint64_t>((t - 1) / options_.period);
      if (segment == 0) break;
      fill_unit(rng_.child("jump", segment), u);
      u *= a;
      break;
    }
    case Drift::oscillating: u = (t % 2 == 0 ? a : -a) * unit_; break;
  }
}

Constants QuadraticGenerator::constants(const ConvexSet& set) const {
  QuadraticBounds bounds;
  bounds.include(base_);
  if (options_.drift != Drift::none) {  // |b_t| ≤ |b| + |A| a, |c_t| ≤ |c| + a
    bounds.norm_b += options_.mu * options_.condition * options_.amplitude;
    bounds.norm_c += options_.drift == Drift::oscillating ? options_.amplitude : 0.0;
  }
  return bounds.constants(set, options_.dim_x, options_.noise, options_.noise_cross);
}

Variation QuadraticGenerator::variation(Round t, const ConvexSet& set) const {
  Vector<double> before, u;
  displacement(t - 1, before);
  displacement(t, u);
  u -= before;
  const Vector<double> still = Vector<double>::Zero(options_.dim_y), gap = factor_.solve(base_.b) - base_.c;
  return quadratic_variation(base_, factor_,
                             {u, base_.A * u, follows() ? u : still, Vector<double>::Zero(options_.dim_x),
                              follows() ? gap : Vector<double>(gap + before), base_.e},
                             set);
}

template <class S>
Quadratic<S>::Quadratic(const Options& options, std::uint64_t seed)
    : generator_(options, seed),
      now_(generator_.base().template cast<S>()),
      u_(options.dim_y),
      shift_(options.dim_y),
      solution_(options.dim_y) {
  this->prepare({options.dim_x, options.dim_y}, options.noise, options.noise_cross);
  reveal(1);
}

template <class S>
void Quadratic<S>::reveal(Round t) {
  generator_.displacement(t, u_);
  shift_.noalias() = generator_.base().A * u_;
  now_.b = (generator_.base().b + shift_).template cast<S>();
  if (generator_.follows()) now_.c = (generator_.base().c + u_).template cast<S>();
  this->use(now_, true);
}

template <class S>
void Quadratic<S>::evaluate(In<S> x, In<S> y, Evaluation& out) {
  if (!generator_.options().evaluate) return;
  this->inner_solution(x, solution_);
  out.add("outer_value", this->outer_value(x, solution_));
  solution_ -= y;
  out.add("inner_distance", euclidean_norm<S>(solution_));
}

template <class S>
void Quadratic<S>::judge(In<S> x, In<S> y, Evaluation& out) {
  if (generator_.options().evaluate) out.add("loss", this->outer_value(x, y));
}

template class Quadratic<double>;
template class Quadratic<float>;

}  // namespace obolus
