// What a run measured, as the theorems' bounds ask for it.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "obolus/metrics/bound.hpp"
#include "obolus/metrics/certified_distances.hpp"
#include "obolus/metrics/variation.hpp"

namespace obolus {

// Δ_1 of the theorems, bounded by what round 1's residuals certify (paper, eqs. delta_y, delta_z and a+b).
[[nodiscard]] inline std::optional<double> initial_error(const Row& first, const Constants& k) {
  const CertifiedDistances distances = certified_distances(first, k);
  if (!distances.y || !distances.z) return std::nullopt;
  const double y = std::pow(*distances.y, 2);
  const double z = std::pow(*distances.z, 2);
  const double L = k.L_g1 * k.L_g1;
  return (1 + first.lambda * first.lambda) * (6 * L * y + 3 * L * z);
}

// Nothing where a constant that every bound needs is unknown or a variation was not measured. `gamma` is that of the
// measured regret.
[[nodiscard]] inline std::optional<BoundInputs> bound_inputs(const Constants& k, const VariationSummary& v,
                                                             const Row& first, Round T, double gamma) {
  if (!std::isfinite(k.L_F()) || !std::isfinite(k.M) || !(k.mu_g > 0) || !std::isfinite(k.sigma)) return std::nullopt;
  if (!v.V.measured() || !v.P().measured()) return std::nullopt;
  const std::optional<double> error = initial_error(first, k);
  if (!error) return std::nullopt;
  return BoundInputs{.T = T,
                     .gamma = gamma,
                     .V_T = v.V.sum,
                     .H_2T = v.H2.sum,
                     .E_f = v.Ef.sum,
                     .E_g = v.Eg.sum,
                     .initial_error = *error,
                     .sigma = k.sigma};
}

// What bounds are made of: the regret's, and the inner iterations'.
inline constexpr std::span regret_variations = std::span(variation_parts).first(4),
                           iteration_variations = regret_variations.subspan(1, 1);

// Says which of the variations behind a bound are estimates.
inline void note_estimates(Bound& bound, const VariationSummary& v,
                           std::span<const VariationPart> used = regret_variations) {
  std::string estimates;
  for (const auto& [name, part] : used)
    if (!(v.*part).exact) estimates += (estimates.empty() ? "" : ", ") + std::string(name);
  if (!estimates.empty())
    bound.assumptions.push_back("estimated from below, so the bound may be too small: " + estimates);
}

}  // namespace obolus
