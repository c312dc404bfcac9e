// A variation as people read it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "obolus/metrics/variation.hpp"
#include "obolus/run/table.hpp"

namespace obolus {

// "12.3", "12.3 (estimate from 16 points)", "infinite" or "not measured"
[[nodiscard]] inline std::string variation_text(const VariationSum& v, std::size_t points) {
  if (!v.measured() || std::isinf(v.sum)) return std::string(v.kind());
  return v.exact ? number(v.sum) : fmt::format("{} (estimate from {} points)", number(v.sum), points);
}

}  // namespace obolus
