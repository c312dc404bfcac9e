#include "data/fold.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "data/unicode_tables.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr char32_t invalid = 0xFFFFFFFF;
constexpr char32_t capital_sigma = 0x3A3, sigma = 0x3C3, final_sigma = 0x3C2, capital_i_with_dot = 0x130;

template <class Entry, std::size_t n>
const Entry* find(const Entry (&entries)[n], char32_t c) {
  const Entry* above =
      std::upper_bound(entries, entries + n, c, [](char32_t value, const Entry& e) { return value < e.first; });
  return above != entries && c <= above[-1].last ? above - 1 : nullptr;
}

char32_t lowered(char32_t c) {
  const unicode::Lowering* found = find(unicode::lowerings, c);
  if (!found || (c - found->first) % found->stride != 0) return c;
  return static_cast<char32_t>(static_cast<std::int64_t>(c) + found->difference);
}

// The bytes of a folded character; none if it is not part of a word.
struct Folded {
  unsigned char size = 0;
  char bytes[4] = {};
};

Folded encoded(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {1, {static_cast<char>(c)}};
  if (c < 0x800) return {2, {static_cast<char>(0xC0 | (c >> 6)), tail(0)}};
  if (c < 0x10000) return {3, {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)}};
  return {4, {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)}};
}

Folded folded(char32_t lower) { return find(unicode::word, lower) ? encoded(lower) : Folded{}; }

const std::array<Folded, 256>& small_characters() {
  static const auto table = [] {
    std::array<Folded, 256> t;
    for (char32_t c = 0; c < 256; ++c) t[c] = folded(lowered(c));
    return t;
  }();
  return table;
}

// A character has at most four bytes; all four are written, and the next character overwrites the rest.
char* put(char* to, const Folded& f) {
  std::memcpy(to, f.bytes, sizeof f.bytes);
  return to + std::max<int>(f.size, 1);
}

char* fold_latin1(std::string_view text, char* to) {
  const std::array<Folded, 256>& table = small_characters();
  for (const char c : text) {
    const Folded& f = table[static_cast<unsigned char>(c)];
    if (static_cast<unsigned char>(c) < 0x80) *to++ = f.bytes[0];  // the common case needs no wait for the size
    else to = put(to, f);
  }
  return to;
}

struct Decoded {
  char32_t code = invalid;
  std::size_t size = 1;
};

// Overlong forms, surrogates and what lies beyond U+10FFFF are invalid, as in Python.
Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = sequence_length(lead);
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < size) return {};
  char32_t code = lead & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < min[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, size};
}

// Is the next character that is not case-ignorable a cased one? Σ itself is, so no text is searched twice.
bool cased_ahead(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Decoded next = decode(text, at);
    if (!find(unicode::case_ignorable, next.code)) return find(unicode::cased, next.code) != nullptr;
    at += next.size;
  }
  return false;
}

// Is the nearest character before that is not case-ignorable a cased one?
bool cased_before(std::string_view text, std::size_t at) {
  while (at > 0) {
    std::size_t back = 1;
    while (back < std::min<std::size_t>(4, at) && (static_cast<unsigned char>(text[at - back]) & 0xC0) == 0x80) ++back;
    const Decoded before = decode(text, at - back);
    if (before.size != back) return false;  // broken bytes
    if (!find(unicode::case_ignorable, before.code)) return find(unicode::cased, before.code) != nullptr;
    at -= back;
  }
  return false;
}

char* fold_utf8(std::string_view text, char* to) {
  const std::array<Folded, 256>& table = small_characters();
  for (std::size_t at = 0; at < text.size();) {
    const Decoded now = decode(text, at);
    if (now.code < 256) {
      to = put(to, table[now.code]);
    } else if (now.code == capital_sigma) {
      const bool last = cased_before(text, at) && !cased_ahead(text, at + now.size);
      to = put(to, encoded(last ? final_sigma : sigma));
    } else if (now.code == capital_i_with_dot) {
      to = put(put(to, encoded('i')), {});  // and a combining dot, which is not part of a word
    } else {
      to = put(to, folded(lowered(now.code)));
    }
    at += now.size;
  }
  return to;
}

}  // namespace

void fold(std::string_view text, Encoding encoding, FoldedText& out) {
  // Latin-1 at most doubles; UTF-8 grows at most from two bytes to three (Ⱥ, Ⱦ). Twice the padding, because the last
  // word is searched for its end eight bytes at a time.
  const std::size_t room = 2 * text.size() + 2 * FoldedText::padding;
  if (out.bytes.size() < room) out.bytes.resize(room);
  char* const begin = out.bytes.data();
  char* const end = encoding == Encoding::latin1 ? fold_latin1(text, begin) : fold_utf8(text, begin);
  std::memset(end, 0, FoldedText::padding);
  out.size = to_size(end - begin);
}

}  // namespace obolus
