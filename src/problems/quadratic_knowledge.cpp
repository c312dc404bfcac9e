#include "obolus/problems/quadratic_knowledge.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/convex_set.hpp"
#include "problems/spectrum.hpp"

namespace obolus {
namespace {

// The square of the spectral norm of a − b; 0 where they are the same.
double squared_distance(const Matrix<double>& a, const Matrix<double>& b) {
  if (a == b) return 0.0;
  const Matrix<double> d = a - b;
  return std::max(0.0, eigenvalues(d.transpose() * d).maxCoeff());
}

}  // namespace

void QuadraticBounds::include(const QuadraticRound<double>& round) {
  const Index d1 = round.B.cols(), d2 = round.A.rows();
  Matrix<double> joint = Matrix<double>::Zero(d1 + d2, d1 + d2);  // Hessian of g in (x, y)
  joint.topRightCorner(d1, d2) = -round.B.transpose();
  joint.bottomLeftCorner(d2, d1) = -round.B;
  joint.bottomRightCorner(d2, d2) = round.A;
  L_g1 = std::max(L_g1, eigenvalues(joint).cwiseAbs().maxCoeff());
  mu_g = std::min(mu_g, eigenvalues(round.A).minCoeff());
  norm_B = std::max(norm_B, std::sqrt(std::max(0.0, eigenvalues(round.B.transpose() * round.B).maxCoeff())));
  norm_b = std::max(norm_b, round.b.norm());
  norm_c = std::max(norm_c, round.c.norm());
  norm_e = std::max(norm_e, round.e.norm());
  w = std::max(w, std::abs(round.w));
  s = std::max(s, std::abs(round.s));
  r = std::max(r, std::abs(round.r));
  dim_y = d2;
}

Constants QuadraticBounds::constants(const ConvexSet& set, Index dim_x, double noise, double noise_cross) const {
  Constants k;
  k.L_f1 = std::max(w + s, r);
  k.L_g1 = L_g1;
  k.L_g2 = 0.0;
  k.mu_g = mu_g;
  const double R = set.max_norm(dim_x);
  if (!std::isfinite(R)) {
    k.region = "X is unbounded: f has no Lipschitz constant and F no bound";
    k.sigma = noise_cross > 0 ? Constants::none : noise;
    return k;
  }
  const double Y = 2 * std::max((norm_B * R + norm_b) / mu_g, norm_c);
  const double f_y = w * (Y + norm_c) + s * std::sqrt(double(dim_y)), f_x = r * (R + norm_e);
  k.L_f0 = std::hypot(f_x, f_y);
  k.M = 0.5 * w * std::pow(Y + norm_c, 2) + s * double(dim_y) + 0.5 * r * std::pow(R + norm_e, 2);
  // The bilinear noise −y'Ex adds E|Ex|² = σ_E² d2 |x|² and E|E'y|² = σ_E² d1 |y|².
  k.sigma = std::hypot(noise, noise_cross * std::hypot(std::sqrt(double(dim_y)) * R, std::sqrt(double(dim_x)) * Y));
  k.region = "x in X and |y| at most " + std::to_string(Y);
  return k;
}

Variation quadratic_variation(const QuadraticRound<double>& base, const Eigen::LLT<Matrix<double>>& factor,
                              const QuadraticChange& change, const ConvexSet& set) {
  Variation v;
  v.outer_gradient = base.w * base.w * change.c.squaredNorm();
  v.inner_gradient = change.b.squaredNorm();
  v.solution = change.solution.squaredNorm();
  v.outer_gradient_x = base.r * base.r * change.e.squaredNorm();
  v.inner_hessian = v.inner_cross = 0.0;
  if (change.b.isZero(0.0) && change.c.isZero(0.0) && change.e.isZero(0.0)) v.value = 0.0;
  if (v.value || base.s != 0.0) return v;
  // With y*_t(x) = A⁻¹Bx + m_t and n_t = m_t − c_t, F_t is ½w|A⁻¹Bx + n_t|² + ½r|x − e_t|²: its change is affine in x.
  // A target that follows the solution leaves n_t alone; rounding must not give the change a slope then, whose supremum
  // over an unbounded X would be infinite.
  Vector<double> n = change.solution - change.c;
  if (n.norm() <= 1e-12 * (change.solution.norm() + change.c.norm())) n.setZero();
  const Vector<double> slope = base.w * (base.B.transpose() * factor.solve(n)) - base.r * change.e;
  const double offset =
      0.5 * base.w * n.dot(2.0 * change.gap + n) + 0.5 * base.r * change.e.dot(2.0 * change.e_before + change.e);
  v.value = std::max({set.support(slope) + offset, set.support(-slope) - offset, 0.0});
  return v;
}

Variation quadratic_variation(const QuadraticRound<double>& before, const QuadraticRound<double>& after,
                              const ConvexSet& set) {
  Variation v;
  const bool same_f = before.w == after.w && before.s == after.s && before.r == after.r;
  if (before.A != after.A || before.B != after.B || !same_f) {
    if (before.w == after.w && before.s == after.s)
      v.outer_gradient = after.w * after.w * (after.c - before.c).squaredNorm();
    if (before.r == after.r) v.outer_gradient_x = after.r * after.r * (after.e - before.e).squaredNorm();
    v.inner_hessian = squared_distance(after.A, before.A);
    v.inner_cross = squared_distance(after.B, before.B);
    return v;
  }
  const Eigen::LLT<Matrix<double>> factor(after.A);
  const Vector<double> b = after.b - before.b;
  return quadratic_variation(
      after, factor,
      {factor.solve(b), b, after.c - before.c, after.e - before.e, factor.solve(before.b) - before.c, before.e}, set);
}

}  // namespace obolus
