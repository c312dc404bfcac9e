// JSON as text: where it is wrong, and a row of it on one line. Not fast: readers come here when something is unusual.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "data/rows/json_row.hpp"

namespace obolus {

[[nodiscard]] constexpr bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
[[nodiscard]] std::string_view json_trimmed(std::string_view text);
[[nodiscard]] bool is_json_number(std::string_view text);

// The first thing that makes `text` not JSON, strings that are not UTF-8 included; false if it is JSON.
[[nodiscard]] bool find_json_fault(std::string_view text, JsonFault& fault);

// Sets in which element of an array the fault is.
void place_in_array(std::string_view array, JsonFault& fault);

// A key with its value.
struct JsonCut {
  std::size_t begin, end;
};
// Appends the object that begins `at` some place in `text`, which is valid, without blanks between its parts and
// without what is cut out.
void append_on_one_line(std::string_view text, std::size_t at, std::span<const JsonCut> cuts, std::string& line);

}  // namespace obolus
