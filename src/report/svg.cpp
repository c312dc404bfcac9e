#include "report/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace obolus {
namespace {

constexpr std::uint32_t replacement = 0xFFFD;

// Takes one character off the text; what is not UTF-8 (Unicode 15, table 3-7) becomes U+FFFD, one byte at a time.
std::uint32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  std::uint32_t code = length < 2 ? first : first & (0x7Fu >> length);
  bool valid = length > 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0u) == 0x80;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  valid = valid && !(length == 3 && code < 0x800) && !(length == 4 && (code < 0x10000 || code > 0x10FFFF)) &&
          !(code >= 0xD800 && code < 0xE000) && code != 0xFFFE && code != 0xFFFF;
  text.remove_prefix(valid ? length : 1);
  return valid ? code : replacement;
}

// Adobe's metrics of Helvetica from space to ~, in thousandths.
constexpr std::array<int, 95> widths{278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
                                     556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                                     1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                                     667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                                     333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                                     556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};

double width_of(std::uint32_t code) {
  if (code < 0x20 || code == 0x7F) return 0;
  if (code < 0x7F) return widths[code - 0x20] / 1000.0;
  return code < 0x1100 ? 0.56 : code < 0x2E80 ? 0.7 : 1.0;  // Latin and Greek; signs; ideographs
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    const std::uint32_t code = take(text);
    switch (code) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\t':
      case '\n':
      case '\r': out += ' '; break;
      case replacement: out += "\uFFFD"; break;
      default:
        if (code >= 0x20 && code != 0x7F) out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) width += width_of(take(text));
  return width * size;
}

std::string fitted(const std::string& text, double size, double width) {
  if (text_width(text, size) <= width) return text;
  double used = size;  // the ellipsis
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view next = rest;
    used += width_of(take(next)) * size;
    if (used > width) break;
    rest = next;
  }
  return text.substr(0, text.size() - rest.size()) + "…";
}

void Svg::add(std::string_view element) {
  out_ += element;
  out_ += '\n';
}

void Svg::text(double x, double y, const char* anchor, double size, const Words& words, std::string_view more) {
  const std::string power = words.power.empty() ? ""
                                                : fmt::format(R"(<tspan dy="{:.1f}" font-size="{:.1f}">{}</tspan>)",
                                                              -0.4 * size, 0.7 * size, xml_escaped(words.power));
  add(fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{:.1f}" {}>{}{}</text>)", x, y, anchor,
                  size, more, xml_escaped(words.text), power));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view more) {
  add(fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" {}/>)", x1, y1, x2, y2, more));
}

std::string Svg::finish(double width, double height) const {
  constexpr double mm = 25.4 / 72;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2f}mm\" height=\"{:.2f}mm\" viewBox=\"0 0 {:.2f} {:.2f}\" "
      "font-family=\"Helvetica, Arial, Liberation Sans, sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
      width * mm, height * mm, width, height, out_);
}

}  // namespace obolus
