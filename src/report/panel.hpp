// One panel: frame, marks, bands and lines.
#pragma once

#include <vector>

#include "report/axis.hpp"
#include "report/figure.hpp"
#include "report/svg.hpp"

namespace obolus {

// The frame's place on the page.
struct Frame {
  double x = 0, y = 0, width = 0, height = 0;
};

class PanelDrawing {
 public:
  static constexpr double tick_size = 7, label_size = 8;
  static constexpr double below = 24, above = 9;  // for marks and label; for the factor of the marks

  explicit PanelDrawing(const Panel& panel);

  // The width of the marks and the label of the vertical axis.
  [[nodiscard]] double left() const;
  // How far the label of the last mark may extend to the right.
  [[nodiscard]] double right() const { return x_.ticks(4).max_width(tick_size) / 2; }
  // `styles`: of each curve; `id`: distinct for every panel of a figure.
  void draw(Svg& svg, const Frame& frame, const std::vector<std::size_t>& styles, std::size_t id) const;

 private:
  void draw_axes(Svg& svg, const Frame& frame) const;
  void draw_band(Svg& svg, const Frame& frame, const Curve& curve, std::size_t style) const;
  void draw_line(Svg& svg, const Frame& frame, const Curve& curve, std::size_t style) const;
  [[nodiscard]] bool takes(const Curve& curve, std::size_t i) const {
    return x_.takes(curve.x[i]) && y_.takes(curve.mean[i]);
  }
  [[nodiscard]] std::string point(const Frame& frame, double x, double y) const;

  const Panel* panel_;
  Axis x_, y_;
  Ticks y_ticks_;
};

}  // namespace obolus
