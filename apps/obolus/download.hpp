// Files from the web, into memory.
#pragma once

#include <cstddef>
#include <string>

namespace obolus::cli {

// Follows redirections; shows progress on a terminal only. Throws ConfigError for an invalid address, DataError if the
// download fails or has more than `max` bytes.
[[nodiscard]] std::string download(const std::string& url, std::size_t max);

}  // namespace obolus::cli
