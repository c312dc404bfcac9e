#include "data/rows/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/rows/line_source.hpp"

namespace obolus {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the UTF-8 character at the beginning of `text`, or 0 if it is none: overlong, a surrogate, cut off.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !follows(1)) return 0;
  if (first < 0xE0) return 2;
  if (!follows(2)) return 0;
  if (first < 0xF0) return (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ? 0 : 3;
  return !follows(3) || (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) ? 0 : 4;
}

// Reads a text up to the first fault.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  void whole() {
    blanks();
    value(1);
    blanks();
    if (at_ < text_.size()) refuse(at_, word(), "the end of the text");
  }

 private:
  [[nodiscard]] bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void blanks() {
    while (at_ < text_.size() && is_json_blank(text_[at_])) ++at_;
  }

  [[noreturn]] static void refuse(std::size_t at, std::string got, std::string expected) {
    throw JsonFault{at, std::move(got), std::move(expected)};
  }

  // What stands here, for messages.
  [[nodiscard]] std::string word() const {
    if (at_ >= text_.size()) return "the end of the text";
    const std::size_t end = text_.find_first_of(" \t\r\n,:[]{}\"", at_);
    if (end != at_) return shown(text_.substr(at_, end - at_));
    return text_[at_] == '"' ? "a quote" : std::string(1, text_[at_]);
  }

  void value(std::size_t depth) {
    if (next_is('{') || next_is('[')) {
      if (depth > JsonRowParser::max_depth)
        refuse(at_, fmt::format("{} brackets within each other", depth),
               fmt::format("at most {}", JsonRowParser::max_depth));
      if (text_[at_] == '{') object(depth);
      else array(depth);
    } else if (next_is('"')) {
      string();
    } else {
      scalar();
    }
  }

  void object(std::size_t depth) {
    ++at_;
    blanks();
    if (next_is('}')) {
      ++at_;
      return;
    }
    while (true) {
      if (!next_is('"')) refuse(at_, word(), "a name in double quotes");
      string();
      blanks();
      if (!next_is(':')) refuse(at_, word(), "a colon after the name");
      ++at_;
      blanks();
      value(depth + 1);
      if (!more('}')) return;
    }
  }

  void array(std::size_t depth) {
    ++at_;
    blanks();
    if (next_is(']')) {
      ++at_;
      return;
    }
    do value(depth + 1);
    while (more(']'));
  }

  bool more(char close) {
    blanks();
    const bool comma = next_is(',');
    if (!comma && !next_is(close)) refuse(at_, word(), fmt::format("a comma or {}", close));
    ++at_;
    blanks();
    return comma;
  }

  void scalar() {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:[]{}\"", at_), text_.size());
    const std::string_view scalar = text_.substr(at_, end - at_);
    if (scalar != "null" && scalar != "true" && scalar != "false" && !is_json_number(scalar)) {
      const bool number = !scalar.empty() && (is_digit(scalar[0]) || std::string_view("+-.NI").find(scalar[0]) < 5);
      refuse(at_, word(),
             number ? "a number as JSON writes it, or null" : "a value: a number, true, false, null, \", { or [");
    }
    at_ = end;
  }

  void string() {
    const std::size_t begin = at_++;
    while (true) {
      if (at_ >= text_.size()) refuse(begin, "the end of the text after this quote", "a quote that closes it");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') break;
      if (c == '\\') {
        escape();
        continue;
      }
      if (c < 0x20)
        refuse(at_, fmt::format("the control character 0x{:02x} in a text", c), fmt::format("\\u{:04x} for it", c));
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) refuse(at_, fmt::format("the byte 0x{:02x}, which is not UTF-8 here", c), "text in UTF-8");
      at_ += length;
    }
    ++at_;
  }

  void escape() {
    constexpr std::string_view expected = R"(\", \\, \/, \b, \f, \n, \r, \t or \u and four hexadecimal digits)";
    const std::size_t begin = at_;
    const char c = ++at_ < text_.size() ? text_[at_] : '\0';
    ++at_;
    if (c == 'u') {
      const unsigned first = hexadecimal(begin);
      if (first < 0xD800 || first > 0xDFFF) return;
      const bool second = first < 0xDC00 && next_is('\\') && at_ + 1 < text_.size() && text_[at_ + 1] == 'u';
      if (second) at_ += 2;
      const unsigned low = second ? hexadecimal(at_ - 2) : 0;
      if (low < 0xDC00 || low > 0xDFFF)
        refuse(begin, fmt::format("half of a pair, \\u{:04x}", first), "both halves, high and low");
    } else if (std::string_view(R"("\/bfnrt)").find(c) == std::string_view::npos) {
      refuse(begin, "the escape " + shown(text_.substr(begin, 2)), std::string(expected));
    }
  }

  unsigned hexadecimal(std::size_t begin) {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const auto digit =
          std::string_view("0123456789abcdef").find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c);
      if (digit == std::string_view::npos)
        refuse(begin, "the escape " + shown(text_.substr(begin, at_ + 1 - begin)), "\\u and four hexadecimal digits");
      code = code * 16 + static_cast<unsigned>(digit);
    }
    return code;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view json_trimmed(std::string_view text) {
  while (!text.empty() && is_json_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_json_number(std::string_view text) {
  const auto take = [&](std::string_view any) {
    const bool taken = !text.empty() && any.find(text.front()) != std::string_view::npos;
    if (taken) text.remove_prefix(1);
    return taken;
  };
  const auto digits = [&] {
    const std::size_t before = text.size();
    while (take("0123456789")) {
    }
    return text.size() < before;
  };
  (void)take("-");
  if (!take("0") && !digits()) return false;
  if (take(".") && !digits()) return false;
  if (take("eE")) {
    (void)take("+-");
    if (!digits()) return false;
  }
  return text.empty();
}

bool find_json_fault(std::string_view text, JsonFault& fault) {
  try {
    JsonScan(text).whole();
    return false;
  } catch (JsonFault& found) {
    fault = std::move(found);
    return true;
  }
}

void place_in_array(std::string_view array, JsonFault& fault) {
  bool quoted = false;
  fault.row = 0;
  for (std::size_t at = 0, depth = 0; at < std::min(fault.offset, array.size()); ++at) {
    const char c = array[at];
    if (quoted && c == '\\') ++at;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '{' || c == '[')) ++depth;
    else if (!quoted && (c == '}' || c == ']') && depth > 0) --depth;
    const bool comma = !quoted && c == ',' && depth == 1;
    if (comma) ++fault.row;
    if (comma || (depth == 1 && fault.row_begin == 0)) fault.row_begin = at + 1;
  }
  while (fault.row_begin < array.size() && is_json_blank(array[fault.row_begin])) ++fault.row_begin;
}

void append_on_one_line(std::string_view text, std::size_t at, std::span<const JsonCut> cuts, std::string& line) {
  bool quoted = false;
  for (std::size_t depth = 0; at < text.size();) {
    if (!cuts.empty() && at == cuts.front().begin) {
      at = cuts.front().end;
      cuts = cuts.subspan(1);
      while (is_json_blank(text[at])) ++at;
      if (text[at] == ',') ++at;
      else if (line.back() == ',') line.pop_back();
      continue;
    }
    const char c = text[at++];
    if (quoted || !is_json_blank(c)) line += c;
    if (quoted && c == '\\') line += text[at++];
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '{' || c == '[')) ++depth;
    else if (!quoted && (c == '}' || c == ']') && --depth == 0) return;
  }
}

}  // namespace obolus
