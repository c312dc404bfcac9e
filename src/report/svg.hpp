// SVG as text. Lengths are points of 1/72 inch.
#pragma once

#include <string>
#include <string_view>

namespace obolus {

// As XML text: special characters as entities; what XML does not allow (control characters, bytes that are not UTF-8)
// dropped or replaced.
[[nodiscard]] std::string xml_escaped(std::string_view text);
// Estimated from Helvetica's widths; other fonts differ by a few per cent.
[[nodiscard]] double text_width(std::string_view text, double size);
// Cut to a width, with "…" at the end if anything was cut.
[[nodiscard]] std::string fitted(const std::string& text, double size, double width);

// Text with a raised power after it: 2×10 and −3.
struct Words {
  std::string text, power = {};

  [[nodiscard]] double width(double size) const { return text_width(text, size) + text_width(power, 0.7 * size); }
};

class Svg {
 public:
  void add(std::string_view element);
  // `anchor`: start, middle or end; `more`: further attributes.
  void text(double x, double y, const char* anchor, double size, const Words& words, std::string_view more = "");
  void line(double x1, double y1, double x2, double y2, std::string_view more);
  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string out_;
};

}  // namespace obolus
