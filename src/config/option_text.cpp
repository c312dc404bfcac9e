#include "config/option_text.hpp"

#include <fmt/format.h>

#include <cmath>
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
  return text + " }";
}

std::string without_comments(const std::string& lines) {
  std::string values;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && !line.starts_with('#')) values += line.substr(0, line.find("  # ")) + '\n';
  return values;
}

}  // namespace obolus::config
