// Closed forms of the quadratic family: the theory's constants on a domain, and how much one round differs from the
// one before. Defined in the library: eigenvalues are slow to compile and needed once per run.
#pragma once

#include <Eigen/Cholesky>

#include "obolus/core/knowledge.hpp"
#include "obolus/problems/quadratic_oracle.hpp"

namespace obolus {

// Bounds of one round's data, gathered over the rounds of a stream.
struct QuadraticBounds {
  double L_g1 = 0, mu_g = Constants::none, norm_B = 0, norm_b = 0, norm_c = 0, norm_e = 0, w = 0, s = 0, r = 0;
  Index dim_y = 0;

  void include(const QuadraticRound<double>& round);

  // f grows quadratically, so L_f0 and M hold on a region only: |x| ≤ R for x in X, and |y| ≤ 2 sup |y*|, which
  // contains y*, y*_λ for every admissible λ when it contains the target c, and the iterates once they have settled.
  [[nodiscard]] Constants constants(const ConvexSet& set, Index dim_x, double noise, double noise_cross) const;
};

// How a round differs from the one before while A, B, w, s and r stand still.
struct QuadraticChange {
  Vector<double> solution;       // of A⁻¹b
  Vector<double> b, c, e;        // of themselves
  Vector<double> gap, e_before;  // A⁻¹b − c and e before
};

// Exactly; V_T's term needs s = 0, or no change at all.
[[nodiscard]] Variation quadratic_variation(const QuadraticRound<double>& base,
                                            const Eigen::LLT<Matrix<double>>& factor, const QuadraticChange& change,
                                            const ConvexSet& set);

// Exact where the two rounds differ in ways that leave a closed form; unset otherwise.
[[nodiscard]] Variation quadratic_variation(const QuadraticRound<double>& before, const QuadraticRound<double>& after,
                                            const ConvexSet& set);

}  // namespace obolus
