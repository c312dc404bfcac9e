// A line of an ARFF file, word by word: bare words end at blanks, commas and braces; words quoted with ' or " have
// backslash escapes. % begins a comment where a word could begin.
#pragma once

#include <string>
#include <string_view>

#include "data/rows/line_source.hpp"

namespace obolus {

class ArffText {
 public:
  ArffText(const LineSource& lines, std::string_view line) : lines_(lines), line_(line) {}

  // Skips blanks; true if nothing is left but a comment. `tab`: whether it skipped a tab, which may separate values.
  bool at_end(bool* tab = nullptr);
  [[nodiscard]] bool next_is(char c) const { return at_ < line_.size() && line_[at_] == c; }
  [[nodiscard]] bool take(char c);  // skips it, if it is next
  // Reads the word that begins here; false if none does. `quoted` tells 'x' from x.
  [[nodiscard]] bool word(std::string& into, bool& quoted);

  [[nodiscard]] std::size_t column() const { return at_ + 1; }
  [[nodiscard]] std::string rest() const;  // for messages
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  void quoted_word(std::string& into);

  const LineSource& lines_;
  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace obolus
