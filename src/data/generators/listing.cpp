#include "obolus/data/generators.hpp"

namespace obolus {

const std::vector<GeneratorOptions>& generators() {
  static const std::vector<GeneratorOptions> all{SeaOptions{}, HyperplaneOptions{}, RandomRbfOptions{}, LedOptions{},
                                                 AgrawalOptions{}};
  return all;
}

std::optional<GeneratorOptions> generator_named(std::string_view name) {
  for (const GeneratorOptions& options : generators())
    if (std::visit([](const auto& o) { return o.name; }, options) == name) return options;
  return std::nullopt;
}

}  // namespace obolus
