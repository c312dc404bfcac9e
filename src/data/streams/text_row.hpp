// Texts as rows of Vowpal Wabbit's format: a namespace a part, a feature a word that weighs 1 + ln(how often it comes), and one
// scale for all namespaces, so that the row has Euclidean length 1.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "obolus/data/text.hpp"

namespace obolus {

struct TextPart {
  std::string_view name, text;
};

// Words are those of text.hpp, which hold no blank, bar or colon; a part without any is left out. The label counts from 1. Ends
// with a line end.
[[nodiscard]] std::string text_row(int label, std::string_view tag, std::span<const TextPart> parts, Encoding encoding);

}  // namespace obolus
