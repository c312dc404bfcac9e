// JSON from a stranger: parsed with a limit on how deep it nests, since what reads or writes it later recurses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace obolus {

// Throws nlohmann::json::exception for what is no JSON, or nests deeper than 64.
[[nodiscard]] inline nlohmann::ordered_json parse_shallow(const std::string& text) {
  using Json = nlohmann::ordered_json;
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    constexpr int deepest = 64;
    if (depth > deepest) throw Json::other_error::create(501, "nested too deep", nullptr);
    return true;
  });
}

}  // namespace obolus
