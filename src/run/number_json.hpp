// A number as JSON, which has no infinities and no NaN: those are null.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace obolus {

[[nodiscard]] inline nlohmann::ordered_json number_or_null(double v) {
  return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json(nullptr);
}

}  // namespace obolus
