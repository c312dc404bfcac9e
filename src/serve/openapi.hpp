// The description of the interface, openapi.json, as part of the program.
#pragma once

#include <string_view>

namespace obolus::serve {

[[nodiscard]] std::string_view openapi_document();

}  // namespace obolus::serve
