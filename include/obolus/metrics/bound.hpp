// A theorem's bound on the regret or on the inner iterations, term by term, and what it is computed from.
// metrics/bounds.hpp has the theorems.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

// Infinity: not known.
struct BoundInputs {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  Round T = 1;
  double gamma = 0.0;  // of the measured regret: covered when it is at least every γ_t
  double V_T = unknown;
  double H_2T = unknown;
  double E_f = unknown;  // E^f_y,T
  double E_g = unknown;  // E^g_y,T
  // Δ_1 = 6 L_g1² |y_2 − y*_{λ_1,1}(x_1)|² + 3 L_g1² |z_2 − y*_1(x_1)|² + |d_1 − ∇L*_1(x_1)|²; Theorem 4 has its
  // expectation, without the last term.
  double initial_error = unknown;
  double sigma = unknown;  // Assumption 3, Theorem 4 only
};

struct BoundTerm {
  std::string name;
  double value;
};

struct Bound {
  double value = 0.0;  // the sum of the terms
  std::vector<BoundTerm> terms;
  std::vector<std::string> assumptions;

  // Without a constant that it needs, a term is infinite, even where that constant meets a zero (0 · ∞).
  void add(std::string name, double term) {
    terms.push_back({std::move(name), std::isnan(term) ? BoundInputs::unknown : term});
    value += terms.back().value;
  }
};

}  // namespace obolus
