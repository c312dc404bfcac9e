// Profiles and distributions of hyperparameters as JSON, the same in summaries, in comparisons' logs and in reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "obolus/run/profile.hpp"

namespace obolus {

// Columns: the rounds, and a list per number of the profiles. Expects at least one profile.
[[nodiscard]] nlohmann::ordered_json profiles_json(const std::vector<Profile>& profiles);
[[nodiscard]] std::vector<Profile> profiles_of(const nlohmann::ordered_json& json);

[[nodiscard]] nlohmann::ordered_json distribution_json(const Distribution& d);
[[nodiscard]] Distribution distribution_of(const nlohmann::ordered_json& json);

}  // namespace obolus
