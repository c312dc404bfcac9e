// Formatted text at the end of a string. Through fmt's own buffer, which its compiled library serves: a
// std::back_inserter would compile fmt's whole formatter again in every file that uses it, for seconds each.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace obolus {

template <class... T>
void append_format(std::string& to, fmt::format_string<T...> format, T&&... values) {
  fmt::memory_buffer text;  // on the stack up to 500 bytes
  fmt::format_to(fmt::appender(text), format, std::forward<T>(values)...);
  to.append(text.data(), text.size());
}

}  // namespace obolus
