// Words separated by commas, as options give them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace obolus::config {

// Empty words are kept; an empty text is one empty word.
inline std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    words.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

}  // namespace obolus::config
