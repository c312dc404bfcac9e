// Labels as text. Labels that are the same number are the same: 1, +1, 1.0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace obolus::fit {

// Nothing for a label that is not a finite number.
[[nodiscard]] std::optional<double> label_number(std::string_view text);

// Numbers in their shortest form, anything else as it is.
[[nodiscard]] std::string canonical_label(std::string_view text);

}  // namespace obolus::fit
