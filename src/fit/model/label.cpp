#include "fit/model/label.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace obolus::fit {

std::optional<double> label_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const char *const first = text.data(), *const last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc() || end != last || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string canonical_label(std::string_view text) {
  const std::optional<double> number = label_number(text);
  if (!number) return std::string(text);
  return fmt::format("{}", *number == 0 ? 0.0 : *number);
}

}  // namespace obolus::fit
