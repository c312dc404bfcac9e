#include "config/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/section_reader.hpp"
#include "data/durable_file.hpp"

namespace obolus::config {
namespace {

constexpr std::uint64_t max_config = 1 << 24;

void insert_value(toml::table& section, const std::string& key, const std::string& value, const std::string& source) {
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + value, source);
  } catch (const toml::parse_error&) {
    parsed = parse("value = " + quoted_text(value), source);
  }
  section.insert_or_assign(key, std::move(*parsed.get("value")));
}

}  // namespace

std::string read_document(const std::string& path) {
  try {
    return read_whole_file(path, max_config);
  } catch (const DataError& e) {
    throw ConfigError(e.what());
  }
}

toml::table parse(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    const std::string place = source.starts_with("--") ? source : fmt::format("{}:{}:{}", source, at.line, at.column);
    throw ConfigError(fmt::format("{}: not valid TOML: {}", place, e.description()));
  }
}

void apply_override(toml::table& root, const std::string& text) {
  const auto equals = text.find('='), dot = text.find('.');
  if (text.find('\n') != std::string::npos || equals == std::string::npos || dot == std::string::npos || dot > equals ||
      dot == 0 || dot + 1 == equals)
    throw ConfigError(fmt::format("--set: got '{}', expected section.key=value", text));
  const std::string section = text.substr(0, dot), key = text.substr(dot + 1, equals - dot - 1);
  toml::node* node = root.get(section);
  if (!node) node = &root.insert(section, toml::table{}).first->second;
  if (!node->is_table()) throw ConfigError(fmt::format("--set {}: [{}] is not a section", text, section));
  insert_value(*node->as_table(), key, text.substr(equals + 1), "--set " + text);
}

toml::table section_of_settings(const std::string& section, const std::vector<std::string>& settings,
                                const std::string& flag) {
  toml::table values;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (setting.find('\n') != std::string::npos || equals == std::string::npos || equals == 0)
      throw ConfigError(fmt::format("{}: got '{}', expected key=value", flag, setting));
    insert_value(values, setting.substr(0, equals), setting.substr(equals + 1), fmt::format("{} {}", flag, setting));
  }
  toml::table root;
  root.insert(section, std::move(values));
  return root;
}

void refuse_unknown(const toml::table& table, const std::string& what, const std::vector<std::string>& valid) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(valid.begin(), valid.end(), name) == valid.end())
      throw ConfigError(fmt::format("{}: unknown {}{}", place_of(node), fmt::format(fmt::runtime(what), name),
                                    suggestion(name, valid)));
  }
}

}  // namespace obolus::config
