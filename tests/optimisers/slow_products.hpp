// What slow references of methods with Hessian-vector products share: every oracle as a function that returns, g_yy and
// g_xy as matrices made column by column, and linear systems solved from the matrix.
#pragma once

#include <Eigen/Cholesky>

#include "obolus/problems/quadratic.hpp"
#include "tests/optimisers/trajectory.hpp"

namespace obolus::test {

class SlowProducts {
  Quadratic<double>& p_;

 public:
  explicit SlowProducts(Quadratic<double>& p) : p_(p) {}

  void reveal(Round t) { p_.reveal(t); }
  Real f_x(const Real& x, const Real& y) {
    Real out(x.size());
    p_.outer_gradient_x(x, y, out);
    return out;
  }
  Real f_y(const Real& x, const Real& y) {
    Real out(y.size());
    p_.outer_gradient_y(x, y, out);
    return out;
  }
  Real g_y(const Real& x, const Real& y) {
    Real out(y.size());
    p_.inner_gradient_y(x, y, out);
    return out;
  }
  Matrix<double> g_yy(const Real& x, const Real& y) {
    Matrix<double> all(y.size(), y.size());
    for (Index i = 0; i < y.size(); ++i) {
      Real column(y.size());
      p_.inner_hvp_yy(x, y, Real::Unit(y.size(), i), column);
      all.col(i) = column;
    }
    return all;
  }
  Real hypergradient(const Real& x, const Real& y, const Real& v) {
    Real d = f_x(x, y);
    for (Index i = 0; i < y.size(); ++i) {
      Real column(x.size());
      p_.inner_hvp_xy(x, y, Real::Unit(y.size(), i), column);
      d -= v[i] * column;
    }
    return d;
  }
  Real solution(const Real& x, const Real& y) { return g_yy(x, y).ldlt().solve(f_y(x, y)); }
};

// Steps and sums of a dozen numbers of size 1, each with an error of ε/2, in a round of at most some hundred steps that
// contract; conjugate gradients with 40 steps on κ = 4 leave 2 · 3^−40 < 2e-19 of an error.
constexpr double product_tolerance = 1e-12;
constexpr double exact_steps = 40.0;

}  // namespace obolus::test
