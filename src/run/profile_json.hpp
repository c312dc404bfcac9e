// Profiles and distributions of hyperparameters as JSON: one form in summaries, in the log of a comparison and in reports.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "obolus/run/profile.hpp"

namespace obolus {

// Columns: the rounds, and a list for each number of the profiles. There must be one profile.
[[nodiscard]] nlohmann::ordered_json profiles_json(const std::vector<Profile>& profiles);
[[nodiscard]] std::vector<Profile> profiles_of(const nlohmann::ordered_json& json);

[[nodiscard]] nlohmann::ordered_json distribution_json(const Distribution& d);
[[nodiscard]] Distribution distribution_of(const nlohmann::ordered_json& json);

}  // namespace obolus
