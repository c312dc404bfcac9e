// Text prepared for counting: lower case, in UTF-8, with a 0 byte for everything that is not part of a word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/term_table.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

struct FoldedText {
  static constexpr std::size_t padding = 8;  // zeros after the text, for readers that take eight bytes at a time
  std::vector<char> bytes;                   // only grows
  std::size_t size = 0;
};

void fold(std::string_view text, Encoding encoding, FoldedText& out);

// The size in bytes of a UTF-8 character that begins with this byte.
[[nodiscard]] inline std::size_t sequence_length(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// visit(FoldedWord) for every word of two characters or more, in order.
template <class Visit>
void for_each_word(const FoldedText& text, Visit&& visit) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  const auto eight = [](const char* p) {
    std::uint64_t v = 0;
    std::memcpy(&v, p, 8);
    return v;
  };
  // A bit in the first of the eight bytes that is 0, and perhaps in later ones.
  const auto zero_bytes = [](std::uint64_t v) { return (v - 0x0101010101010101u) & ~v & 0x8080808080808080u; };
  const char* p = text.bytes.data();
  const char* const end = p + text.size;
  while (p < end) {
    const std::uint64_t v = eight(p);
    if ((v & 0xFF) == 0) {
      p += v == 0 ? 8 : std::countr_zero(v) / 8;
      continue;
    }
    const char* after = p;
    std::uint64_t zeros = zero_bytes(v);
    const std::uint64_t head = zeros == 0 ? v : v & (~std::uint64_t{0} >> (64 - (std::countr_zero(zeros) & ~7)));
    while (zeros == 0) zeros = zero_bytes(eight(after += 8));  // the padding ends it
    after += std::countr_zero(zeros) / 8;
    const auto size = to_size(after - p);
    if (size > sequence_length(static_cast<unsigned char>(*p))) visit(FoldedWord{p, size, head});
    p = after + 1;
  }
}

}  // namespace obolus
