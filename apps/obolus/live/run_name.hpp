// Which run of a source: the page's key for it.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace obolus::cli {

using Json = nlohmann::ordered_json;

struct RunName {
  std::string stream, optimiser, setting;
  std::int64_t seed = 0;

  auto operator<=>(const RunName&) const = default;
  [[nodiscard]] Json json() const;
};

}  // namespace obolus::cli
