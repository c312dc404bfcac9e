// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace obolus::serve {

// In quotes. What is no UTF-8 becomes U+FFFD.
void append_json(std::string& to, std::string_view text);

}  // namespace obolus::serve
