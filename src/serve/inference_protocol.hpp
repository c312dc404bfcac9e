// The Open Inference Protocol (v2): columns instead of rows.
#pragma once

#include <string>
#include <string_view>

#include "serve/served_model.hpp"

namespace obolus::serve {

[[nodiscard]] std::string protocol_about(const ServedModel& model);
[[nodiscard]] std::string protocol_error(std::string_view message);
// Throws Refusal.
[[nodiscard]] std::string protocol_answer(ServedModel& model, std::string_view body);

}  // namespace obolus::serve
