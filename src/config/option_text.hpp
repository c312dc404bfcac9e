// Option values and their types as people read and write them in a config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus::config {

// The shortest text that reads back as the same double, always a TOML float.
[[nodiscard]] std::string number_text(double v);
[[nodiscard]] std::string quoted_text(std::string_view s);
[[nodiscard]] std::string schedule_text(const Schedule& s);

template <class E>
[[nodiscard]] std::vector<std::string> names_of_enum() {
  std::vector<std::string> names;
  names.reserve(EnumNames<E>::values.size());
  for (const auto& [value, name] : EnumNames<E>::values) names.emplace_back(name);
  return names;
}

// Empty for an option that is not set.
[[nodiscard]] std::string value_text(bool value);
[[nodiscard]] std::string value_text(std::int64_t value);
[[nodiscard]] std::string value_text(std::uint64_t value);
[[nodiscard]] std::string value_text(double value);
[[nodiscard]] std::string value_text(const std::string& value);
[[nodiscard]] std::string value_text(const Schedule& value);
[[nodiscard]] std::string value_text(const Numbers& value);
template <class T>
[[nodiscard]] std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : std::string();
}
template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] std::string value_text(E value) {
  return quoted_text(name_of(value));
}

[[nodiscard]] std::string joined_names(const std::vector<std::string>& names);  // "a | b"

template <class T>
[[nodiscard]] std::string type_text() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  else if constexpr (std::is_integral_v<T>) return "integer";
  else if constexpr (std::is_same_v<T, std::string>) return "text";
  else if constexpr (std::is_same_v<T, FilePath>) return "path";
  else if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, std::optional<Schedule>>)
    return "number or schedule";
  else if constexpr (std::is_same_v<T, Numbers> || std::is_same_v<T, std::optional<Numbers>>) return "number or list";
  else if constexpr (std::is_enum_v<T>) return joined_names(names_of_enum<T>());
  else return "number";
}

// The visitor: describe(lines) writes the lines of a section of a config file, each with its meaning.
class SectionLines {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view help, Range = {}) {
    add(name, value_text(value), help);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(std::string_view name, const std::string& value, std::string_view help);

  std::string text_;
};

template <class Options>
std::string section_lines(const Options& options) {
  Options copy = options;
  SectionLines lines;
  copy.describe(lines);
  return lines.text();
}

// The same lines without comments, whose wording may differ between programs.
[[nodiscard]] std::string without_comments(const std::string& lines);

}  // namespace obolus::config
