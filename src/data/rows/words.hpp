// The words of a line, between blanks and tabs, with where they stand.
#pragma once

#include <cstddef>
#include <string_view>

namespace obolus {

struct Word {
  std::string_view text;
  std::size_t column = 1;  // of its first byte, from 1

  [[nodiscard]] Word from(std::size_t offset) const { return {text.substr(offset), column + offset}; }
};

[[nodiscard]] constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

[[nodiscard]] constexpr const char* past_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

class Words {
 public:
  explicit Words(Word text) : rest_(text) {}

  [[nodiscard]] bool next(Word& word) {
    std::size_t begin = 0;
    while (begin < rest_.text.size() && is_blank(rest_.text[begin])) ++begin;
    rest_ = rest_.from(begin);
    if (rest_.text.empty()) return false;
    std::size_t end = 1;
    while (end < rest_.text.size() && !is_blank(rest_.text[end])) ++end;
    word = {rest_.text.substr(0, end), rest_.column};
    rest_ = rest_.from(end);
    return true;
  }

  [[nodiscard]] Word rest() const { return rest_; }

 private:
  Word rest_;
};

}  // namespace obolus
