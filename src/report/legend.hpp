// Colours and dashes of the curves, and the legend that explains them.
#pragma once

#include <string>
#include <vector>

#include "report/svg.hpp"

namespace obolus {

struct LineStyle {
  const char *colour, *dash;
};

// Neighbours differ in colour and in dash; any two of the first 49 in at least one of them.
[[nodiscard]] LineStyle line_style(std::size_t i);

struct LegendEntry {
  std::size_t style = 0;
  std::string text;
};

// Entries in one centred line if they fit, otherwise in columns. Draws at (0, y) and returns the height used.
double draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double y, double width);

}  // namespace obolus
