// Numbers as text, in the C locale whatever the locale is.
#pragma once

#include <cstdint>
#include <string_view>

namespace obolus {

enum class NumberFault : std::uint8_t { none, no_number, not_finite, too_large };

struct NumberText {
  double value = 0;
  NumberFault fault = NumberFault::none;
};

// The whole text, a sign allowed, no blanks. What is too small for a double is 0; NaN and infinities are not_finite.
[[nodiscard]] NumberText number_of(std::string_view text);
// The same; too_large is what a float cannot hold.
[[nodiscard]] NumberText float_of(std::string_view text);

// What to expect instead, for messages.
[[nodiscard]] std::string_view expectation(NumberFault fault);

}  // namespace obolus
