// JSON from untrusted files: parsed with a limit on nesting, because code that reads or writes it later recurses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace obolus {

// Throws nlohmann::json::exception for text that is not JSON, or nests deeper than 64.
[[nodiscard]] nlohmann::ordered_json parse_shallow(const std::string& text);

}  // namespace obolus
