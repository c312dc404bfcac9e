// Line charts as SVG, for papers: panels in rows, curves with bands of one standard deviation, legends below. Sizes are
// those of the printed page: letters of 7 to 9 points. Colours stay distinct for the colour-blind, dashes in grey.
#pragma once

#include <string>
#include <vector>

namespace obolus {

struct Curve {
  std::string label;
  std::string note;                 // after the label in the legend
  std::vector<double> x, mean, sd;  // points that an axis cannot show are left out
};

struct Panel {
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Curve> curves;
};

struct PanelRow {
  std::string title;  // may be empty
  std::vector<Panel> panels;
};

struct Figure {
  std::string title;  // may be empty
  double width_mm = 170;
  std::vector<PanelRow> rows;

  // A label has one colour and one dash in all panels. One legend for all, or one per row if curves have
  // notes.
  [[nodiscard]] std::string svg() const;
};

}  // namespace obolus
