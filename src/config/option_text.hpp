// Option values and their types as people read and write them in a config.
#pragma once

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
  for (const auto& [value, name] : EnumNames<E>::values) names.emplace_back(name);
  return names;
}

// Empty for an option that is not set.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_floating_point_v<T>) return number_text(value);
  else if constexpr (std::is_base_of_v<std::string, T>) return quoted_text(value);
  else if constexpr (std::is_same_v<T, Schedule>) return schedule_text(value);
  else if constexpr (std::is_same_v<T, std::optional<double>>) return value ? number_text(*value) : std::string();
  else if constexpr (std::is_same_v<T, std::optional<Schedule>>) return value ? schedule_text(*value) : std::string();
  else if constexpr (std::is_same_v<T, std::optional<Numbers>>) return value ? value_text(*value) : std::string();
  else if constexpr (std::is_enum_v<T>) return quoted_text(name_of(value));
  else {
    if (!value.list) return number_text(value.values.front());
    std::string text = "[";
    for (const double v : value.values) text += (text.size() > 1 ? ", " : "") + number_text(v);
    return text + "]";
  }
}

template <class T>
std::string type_text() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  else if constexpr (std::is_integral_v<T>) return "integer";
  else if constexpr (std::is_same_v<T, std::string>) return "text";
  else if constexpr (std::is_same_v<T, FilePath>) return "path";
  else if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, std::optional<Schedule>>)
    return "number or schedule";
  else if constexpr (std::is_same_v<T, Numbers> || std::is_same_v<T, std::optional<Numbers>>) return "number or list";
  else if constexpr (std::is_enum_v<T>) {
    std::string text;
    for (const auto& [value, name] : EnumNames<T>::values) text += (text.empty() ? "" : " | ") + std::string(name);
    return text;
  } else return "number";
}

// The lines of a section of a config file, each with its meaning.
template <class Options>
std::string section_lines(const Options& options) {
  Options copy = options;
  std::string lines;
  copy.describe([&]<class T>(std::string_view name, T& value, std::string_view help, Range = {}) {
    const std::string text = value_text(value);
    if (text.empty()) (lines += "# ").append(name).append(" is not set: ");
    else lines.append(name).append(" = ").append(text).append("  # ");
    lines.append(help).append("\n");
  });
  return lines;
}

// The same lines without comments, whose wording may differ between programs.
[[nodiscard]] std::string without_comments(const std::string& lines);

}  // namespace obolus::config
