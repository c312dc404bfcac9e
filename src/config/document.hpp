// A config as a whole: its text, its overrides and its sections, before options are read from it.
#pragma once

#include <string>
#include <vector>

#include "config/toml.hpp"

namespace obolus::config {

// Throws ConfigError, not DataError: a config that cannot be read is a wrong argument.
[[nodiscard]] std::string read_document(const std::string& path);

// `source` names the text in errors.
[[nodiscard]] toml::table parse(const std::string& text, const std::string& source);

// "section.key=value"; a value that is not TOML is taken as text, so that quotes are not needed.
void apply_override(toml::table& root, const std::string& text);

// A document of one section, from the "key=value" texts of a flag, which errors name.
[[nodiscard]] toml::table section_of_settings(const std::string& section, const std::vector<std::string>& settings,
                                              const std::string& flag);

// Throws ConfigError for a key that is not in `valid`; `what` says what kind of key it is.
void refuse_unknown(const toml::table& table, const std::string& what, const std::vector<std::string>& valid);

}  // namespace obolus::config
