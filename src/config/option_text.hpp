// Option values and their types as people read and write them in a config file.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/core/schedule.hpp"

namespace obolus::config {

// The shortest text that reads back as the same double, always a TOML float.
inline std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

inline std::string quoted_text(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else out += c;
  }
  return out += '"';
}

inline std::string schedule_text(const Schedule& s) {
  if (s.is_constant()) return number_text(s.scale);
  std::string text = "{ scale = " + number_text(s.scale);
  if (s.power != 0) text += ", power = " + number_text(s.power);
  if (s.log) text += ", log = true";
  if (std::isfinite(s.min)) text += ", least = " + number_text(s.min);
  if (std::isfinite(s.max)) text += ", most = " + number_text(s.max);
  return text + " }";
}

// Empty for an option that is not set.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_floating_point_v<T>) return number_text(value);
  else if constexpr (std::is_same_v<T, std::string>) return quoted_text(value);
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
    if (text.empty()) lines += fmt::format("# {} is not set: {}\n", name, help);
    else lines += fmt::format("{} = {}  # {}\n", name, text, help);
  });
  return lines;
}

}  // namespace obolus::config
