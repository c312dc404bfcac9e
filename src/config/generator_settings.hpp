// Generators by name and settings, as a command line gives them.
#pragma once

#include <string>
#include <vector>

#include "obolus/data/generators.hpp"

namespace obolus {

// Settings are KEY=VALUE, with values as in a config: drift_rows=[5000,10000]. Throws ConfigError for an unknown name
// or key, or a value out of range.
[[nodiscard]] GeneratorOptions generator_with(const std::string& name, const std::vector<std::string>& settings);

}  // namespace obolus
