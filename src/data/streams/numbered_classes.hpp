// Class names for formats that require numbers.
#pragma once

#include <string>
#include <vector>

namespace obolus {

// "1", "2", …
[[nodiscard]] inline std::vector<std::string> numbered_classes(std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i + 1);
  return names;
}

}  // namespace obolus
