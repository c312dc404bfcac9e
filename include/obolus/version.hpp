// The version; CMakeLists.txt reads it from here.
#pragma once

#include <string_view>

namespace obolus {

inline constexpr std::string_view version_text = "0.1.0";

}  // namespace obolus
