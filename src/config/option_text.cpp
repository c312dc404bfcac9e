#include "config/option_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <sstream>

namespace obolus::config {

std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string quoted_text(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else out += c;
  }
  return out += '"';
}

std::string schedule_text(const Schedule& s) {
  if (s.is_constant()) return number_text(s.scale);
  std::string text = "{ scale = " + number_text(s.scale);
  if (s.power != 0) text += ", power = " + number_text(s.power);
  if (s.log) text += ", log = true";
  if (std::isfinite(s.min)) text += ", least = " + number_text(s.min);
  if (std::isfinite(s.max)) text += ", most = " + number_text(s.max);
  if (s.changes.count > 0) {
    const auto n = static_cast<std::ptrdiff_t>(s.changes.count);
    std::vector<std::string> values;
    std::transform(s.changes.value.begin(), s.changes.value.begin() + n, std::back_inserter(values), number_text);
    text += fmt::format(", at = [{}], values = [{}]", fmt::join(s.changes.at.begin(), s.changes.at.begin() + n, ", "),
                        fmt::join(values, ", "));
  }
  if (s.from != 0) text += fmt::format(", from = {}", s.from);
  if (s.warmup != 0) text += fmt::format(", warmup = {}", s.warmup);
  if (s.cosine != 0) text += fmt::format(", cosine = {}", s.cosine);
  if (s.floor != 0) text += ", floor = " + number_text(s.floor);
  return text + " }";
}

std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(std::int64_t value) { return std::to_string(value); }
std::string value_text(std::uint64_t value) { return std::to_string(value); }
std::string value_text(double value) { return number_text(value); }
std::string value_text(const std::string& value) { return quoted_text(value); }
std::string value_text(const Schedule& value) { return schedule_text(value); }
std::string value_text(const Numbers& value) {
  if (!value.list) return number_text(value.values.front());
  std::string text = "[";
  for (const double v : value.values) text += (text.size() > 1 ? ", " : "") + number_text(v);
  return text + "]";
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " | ") + name;
  return text;
}

void SectionLines::add(std::string_view name, const std::string& value, std::string_view help) {
  if (value.empty()) (text_ += "# ").append(name).append(" is not set: ");
  else text_.append(name).append(" = ").append(value).append("  # ");
  text_.append(help).append("\n");
}

std::string without_comments(const std::string& lines) {
  std::string values;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && !line.starts_with('#')) values += line.substr(0, line.find("  # ")) + '\n';
  return values;
}

}  // namespace obolus::config
