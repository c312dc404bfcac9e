// Text made ready for counting: lowered, in UTF-8, with a 0 byte for whatever is not part of a word.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "obolus/data/text.hpp"

namespace obolus {

// Behind a folded text stand so many zeros, for readers that take eight bytes at a time.
inline constexpr std::size_t folded_padding = 8;

// out ← the folded text and its padding.
void fold(std::string_view text, Encoding encoding, std::vector<char>& out);

// How many bytes a character of UTF-8 takes that begins with this one.
[[nodiscard]] inline std::size_t sequence_length(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// visit(first byte, size) for every word of two characters or more of a folded text, in order.
template <class Visit>
void for_each_word(const std::vector<char>& folded, Visit&& visit) {
  const char* p = folded.data();
  const char* const end = p + folded.size() - folded_padding;
  while (true) {
    while (p < end && *p == 0) ++p;
    if (p >= end) return;
    const char* const first = p;
    while (*p != 0) ++p;  // the padding stops it
    const auto size = static_cast<std::size_t>(p - first);
    if (size > sequence_length(static_cast<unsigned char>(*first))) visit(first, size);
  }
}

}  // namespace obolus
