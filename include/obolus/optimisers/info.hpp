// An optimiser's description for registries, listings and reports.
#pragma once

#include <string_view>

namespace obolus {

struct OptimiserInfo {
  std::string_view name;      // in configs
  std::string_view title;     // for people
  std::string_view citation;  // the source of its steps
  bool needs_hvp = false;
  bool stochastic = false;  // draws samples, unless its option `samples` says given
};

}  // namespace obolus
