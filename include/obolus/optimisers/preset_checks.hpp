// What every preset asks first: the constants it needs, and whether the method has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "obolus/core/error.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/preset.hpp"
#include "obolus/optimisers/theorem_conditions.hpp"

namespace obolus::theory {

// An L_g1 below μ_g contradicts itself: ∇g would change by less than strong convexity demands.
inline void require_constants(const Constants& k, Preset preset, std::string_view optimiser,
                              std::span<const NamedConstant> needed = named_constants) {
  std::string got, remedy;
  const auto complain = [&](std::string_view name, double value) {
    got += (got.empty() ? "" : ", ") + std::string(name) + " = " + text(value);
    remedy += (remedy.empty() ? "set optimiser." : ", optimiser.") + std::string(name) + " = …";
  };
  for (const NamedConstant& c : needed)
    if (!is_given(k, c)) complain(c.name, k.*c.value);
  if (got.empty() && k.L_g1 < k.mu_g) complain("L_g1", k.L_g1);
  if (got.empty()) return;
  throw ConfigError("preset \"" + std::string(name_of(preset)) + "\" of " + std::string(optimiser) + ": got " + got +
                    (k.region.empty() ? "" : " (" + k.region + ")") +
                    ", expected finite constants with mu_g > 0 and L_g1 >= mu_g; " + remedy);
}

[[noreturn]] inline void refuse(Preset preset, std::string_view optimiser, std::string_view expected) {
  throw ConfigError("optimiser.preset: got \"" + std::string(name_of(preset)) + "\", expected " +
                    std::string(expected) + ": " + std::string(optimiser) + " has no other preset");
}

// 400 κ_g steps shrink the squared error of y by (1 − 1/(4κ_g))^(400κ_g) < e^−100.
[[nodiscard]] inline std::int64_t inner_cap(const Constants& k) {
  return static_cast<std::int64_t>(std::min(9e18, std::max(1e4, std::ceil(400 * k.kappa()))));
}

}  // namespace obolus::theory
