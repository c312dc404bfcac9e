// How far y and z are from their solutions at most, by strong convexity: μ_g|z − y*| ≤ |∇_y g(z)|, and
// (λ_t μ_g/2)|y − y*_λ| ≤ |∇_y L_t(y)| once λ_t ≥ 2 L_f1/μ_g (paper, eqs. delta_y, delta_z).
#pragma once

#include <optional>

#include "obolus/core/knowledge.hpp"
#include "obolus/metrics/row.hpp"

namespace obolus {

struct CertifiedDistances {
  std::optional<double> y, z;  // unset where the constants or the residuals do not allow it
};

[[nodiscard]] inline CertifiedDistances certified_distances(const Row& row, const Constants& k) {
  CertifiedDistances distances;
  if (!row.has_residuals || !(k.mu_g > 0)) return distances;
  distances.z = row.residual_z / k.mu_g;
  if (row.lambda > 0 && row.lambda * k.mu_g >= 2 * k.L_f1) distances.y = 2 * row.residual_y / (row.lambda * k.mu_g);
  return distances;
}

}  // namespace obolus
