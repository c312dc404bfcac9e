// Line charts as SVG, for papers: panels side by side in rows, curves with bands of a standard deviation, one legend. Colours can be told apart
// by the colour-blind, and dashes where there is no colour.
#pragma once

#include <string>
#include <vector>

namespace obolus {

struct Curve {
  std::string label;
  std::vector<double> x, mean, sd;  // what is not finite is left out
};

struct Panel {
  std::string title, x_label;
  bool logarithmic = false;  // the vertical axis
  std::vector<Curve> curves;
};

struct Figure {
  std::vector<std::vector<Panel>> rows;

  [[nodiscard]] std::string svg() const;
};

}  // namespace obolus
