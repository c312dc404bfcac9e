// Texts as Vowpal Wabbit rows: one namespace per part, one feature per word with the value 1 + ln(number of
// occurrences), and one scale for all namespaces, so that the row has Euclidean length 1.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "obolus/data/text.hpp"

namespace obolus {

struct TextPart {
  std::string_view name, text;
};

// Words are those of text.hpp, which contain no blank, bar or colon; a part without words is left out. Labels count
// from 1. Ends with a newline.
[[nodiscard]] std::string text_row(int label, std::string_view tag, std::span<const TextPart> parts, Encoding encoding);

}  // namespace obolus
