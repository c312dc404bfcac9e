#include "data/rows/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/rows/short_decimal.hpp"

namespace obolus {
namespace {

// Whether a number that from_chars found out of range underflows: its size is below 1.
bool is_small(std::string_view text) {
  if (text.front() == '-') text.remove_prefix(1);
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  const std::size_t first = digits.find_first_not_of("0."), point = std::min(digits.find('.'), digits.size());
  if (first == std::string_view::npos) return true;
  // The exponent of the first digit, as written before `e`.
  const auto size = [](std::size_t n) { return static_cast<long long>(n); };
  const long long leading = first < point ? size(point - first) - 1 : -size(first - point);
  if (e == std::string_view::npos) return leading < 0;
  std::string_view written = text.substr(e + 1);
  if (!written.empty() && written.front() == '+') written.remove_prefix(1);
  long long exponent = 0;
  if (std::from_chars(written.data(), written.data() + written.size(), exponent).ec != std::errc{})
    return written.front() == '-';
  return exponent < -leading;
}

}  // namespace

NumberText number_of(std::string_view text) {
  const char *at = text.data(), *last = text.data() + text.size();
  if (double value = 0; read_short_decimal(at, last, value) && at == last) return {.value = value};
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  NumberText number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size())
    return {.fault = NumberFault::not_a_number};
  if (error == std::errc::result_out_of_range) {
    if (is_small(text)) return {};
    return {.fault = NumberFault::too_large};
  }
  if (!std::isfinite(number.value)) {
    const bool written = text.find_first_of("nN") != std::string_view::npos;  // inf, infinity, nan
    return {.fault = written ? NumberFault::not_finite : NumberFault::too_large};
  }
  return number;
}

NumberText float_of(std::string_view text) {
  NumberText number = number_of(text);
  if (number.fault == NumberFault::none && std::isinf(static_cast<float>(number.value)))
    return {.fault = NumberFault::too_large};
  return number;
}

std::string_view expectation(NumberFault fault) {
  switch (fault) {
    case NumberFault::not_finite: return "a finite number";
    case NumberFault::too_large: return "a number that a 32-bit float can hold (at most 3.4e38)";
    default: return "a number";
  }
}

}  // namespace obolus
