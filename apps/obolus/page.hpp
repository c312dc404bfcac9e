// The report's and the live view's page.
#pragma once

#include <string_view>

namespace obolus::cli {

// One HTML file with the text @OBOLUS_DATA@ in it, once; empty where the program was built without it.
[[nodiscard]] std::string_view page();

}  // namespace obolus::cli
