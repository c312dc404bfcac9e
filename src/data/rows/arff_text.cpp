#include "data/rows/arff_text.hpp"

#include "data/rows/words.hpp"

namespace obolus {

bool ArffText::at_end(bool* tab) {
  if (tab) *tab = false;
  for (; at_ < line_.size() && is_blank(line_[at_]); ++at_)
    if (tab && line_[at_] == '\t') *tab = true;
  return at_ == line_.size() || line_[at_] == '%';
}

bool ArffText::take(char c) {
  if (!next_is(c)) return false;
  ++at_;
  return true;
}

bool ArffText::word(std::string& into, bool& quoted) {
  into.clear();
  quoted = false;
  if (at_end()) return false;
  quoted = line_[at_] == '\'' || line_[at_] == '"';
  if (quoted) {
    quoted_word(into);
    return true;
  }
  const std::size_t begin = at_;
  while (at_ < line_.size() && !is_blank(line_[at_]) && line_[at_] != ',' && line_[at_] != '{' && line_[at_] != '}')
    ++at_;
  into = line_.substr(begin, at_ - begin);
  return at_ > begin;
}

void ArffText::quoted_word(std::string& into) {
  const std::size_t begin = at_;
  const char quote = line_[at_++];
  for (; at_ < line_.size() && line_[at_] != quote; ++at_) {
    char c = line_[at_];
    if (c == '\\' && at_ + 1 < line_.size()) {
      c = line_[++at_];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    into += c;
  }
  if (at_ == line_.size()) {
    at_ = begin;
    refuse("a quote that closes it on the same line");
  }
  ++at_;
}

std::string ArffText::rest() const { return at_ == line_.size() ? "the end of the line" : shown(line_.substr(at_)); }

void ArffText::refuse(std::string_view expected) const { lines_.refuse(lines_.number(), column(), rest(), expected); }

}  // namespace obolus
