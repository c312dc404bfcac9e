// Numbers as text, in the C locale whatever the current locale.
#pragma once

#include <cstdint>
#include <string_view>

namespace obolus {

enum class NumberFault : std::uint8_t { none, not_a_number, not_finite, too_large };

struct NumberText {
  double value = 0;
  NumberFault fault = NumberFault::none;
};

// Reads the whole text; a sign is allowed, blanks are not. Underflow gives 0; NaN and infinities are not_finite.
[[nodiscard]] NumberText number_of(std::string_view text);
// The same; what a float cannot hold is too_large.
[[nodiscard]] NumberText float_of(std::string_view text);

// What to expect instead, for messages.
[[nodiscard]] std::string_view expectation(NumberFault fault);

}  // namespace obolus
