#include "report/shallow_json.hpp"

#include <nlohmann/json.hpp>

namespace obolus {

nlohmann::ordered_json parse_shallow(const std::string& text) {
  using Json = nlohmann::ordered_json;
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    constexpr int max_depth = 64;
    if (depth > max_depth) throw Json::other_error::create(501, "nested too deep", nullptr);
    return true;
  });
}

}  // namespace obolus
