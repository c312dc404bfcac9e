// Files from the web, into memory.
#pragma once

#include <cstddef>
#include <string>

namespace obolus::cli {

// What the address holds, redirections followed; progress on a terminal only. Throws ConfigError for an address that is
// none, DataError for whatever goes wrong on the way and for more than `most` bytes.
[[nodiscard]] std::string download(const std::string& url, std::size_t max);

}  // namespace obolus::cli
