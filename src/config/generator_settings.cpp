#include "config/generator_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/document.hpp"
#include "config/section_reader.hpp"

namespace obolus {

GeneratorOptions generator_with(const std::string& name, const std::vector<std::string>& settings) {
  std::optional<GeneratorOptions> options = generator_named(name);
  if (!options) {
    std::vector<std::string> known;
    for (const GeneratorOptions& g : generators())
      known.emplace_back(std::visit([](const auto& o) { return o.name; }, g));
    throw ConfigError(fmt::format("generator: got '{}', expected one of {}{}", name, fmt::join(known, ", "),
                                  suggestion(name, known)));
  }
  toml::table root;
  for (const std::string& setting : settings) {
    if (setting.find('=') == std::string::npos || setting.starts_with('='))
      throw ConfigError(fmt::format("--set: got '{}', expected KEY=VALUE", setting));
    config::apply_override(root, fmt::format("{}.{}", name, setting));
  }
  config::SectionReader reader(root, name);
  std::visit([&](auto& o) { o.describe(reader); }, *options);
  reader.finish();
  return *options;
}

}  // namespace obolus
