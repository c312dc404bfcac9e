// Formatted text at the end of a string. fmt's formatter is compiled once, in append_format.cpp: std::back_inserter
// would compile it again in every file that uses it, for seconds each.
#pragma once

#include <fmt/format.h>

#include <string>

namespace obolus {

void append_formatted(std::string& to, fmt::string_view format, fmt::format_args values);

template <class... T>
void append_format(std::string& to, fmt::format_string<T...> format, T&&... values) {
  append_formatted(to, format, fmt::make_format_args(values...));
}

}  // namespace obolus
