// Generators by name and settings, as a command line gives them.
#pragma once

#include <string>
#include <vector>

#include "obolus/data/generators.hpp"

namespace obolus {

// Settings are KEY=VALUE, values as in a config: drift_rows=[5000,10000]. Throws ConfigError for a name, a key or a value that is none.
[[nodiscard]] GeneratorOptions generator_with(const std::string& name, const std::vector<std::string>& settings);

}  // namespace obolus
