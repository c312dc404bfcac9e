// Constants of an imaginary problem, drawn over the orders of magnitude that real ones have.
#pragma once

#include <rapidcheck.h>

#include <cmath>

#include "obolus/core/knowledge.hpp"

namespace obolus {

// Log-uniform in [min, max].
inline double random_magnitude(double min, double max) {
  const double u = *rc::gen::inRange(0, 1'000'001) / 1e6;
  return min * std::pow(max / min, u);
}

// One time in four zero.
inline double random_magnitude_or_zero(double min, double max) {
  return *rc::gen::inRange(0, 4) == 0 ? 0.0 : random_magnitude(min, max);
}

inline Constants random_constants(double max_kappa = 1e4) {
  Constants k;
  k.mu_g = random_magnitude(1e-3, 10);
  k.L_g1 = k.mu_g * random_magnitude(1, max_kappa);
  k.L_g2 = random_magnitude_or_zero(1e-3, 10);
  k.L_f0 = random_magnitude_or_zero(1e-3, 100);
  k.L_f1 = random_magnitude_or_zero(1e-3, 100);
  k.M = random_magnitude_or_zero(1e-3, 100);
  return k;
}

}  // namespace obolus
