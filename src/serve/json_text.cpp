#include "serve/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace obolus::serve {

void append_json(std::string& to, std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7F' && c != '"' && c != '\\'; };
  if (!std::ranges::all_of(text, is_plain)) {
    to += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  to += '"';
  to += text;
  to += '"';
}

}  // namespace obolus::serve
