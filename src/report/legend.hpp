// Which colour and dash belong to which label, and the legend that says so.
#pragma once

#include <string>
#include <vector>

#include "report/svg.hpp"

namespace obolus {

struct LineStyle {
  const char *colour, *dash;
};

// Neighbours differ in colour and in dash; all of the first 49 in one or the other.
[[nodiscard]] LineStyle line_style(std::size_t i);

struct LegendEntry {
  std::size_t style = 0;
  std::string text;
};

// Entries in one centred line where they fit, else in columns. Draws at (0, y) and returns the height used.
double draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double y, double width);

}  // namespace obolus
