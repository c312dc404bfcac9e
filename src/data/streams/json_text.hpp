// JSON as errors show it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace obolus {

[[nodiscard]] inline std::string shortened(const nlohmann::json& value, std::size_t max = 60) {
  std::string text = value.dump(-1, ' ', true);  // ASCII only, so that it can be cut anywhere
  if (text.size() <= max) return text;
  return text.substr(0, max) + "…";
}

}  // namespace obolus
