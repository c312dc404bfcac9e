#include "report/panel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/legend.hpp"

namespace obolus {
namespace {

constexpr const char* mark = R"(stroke="#333" stroke-width="0.5")";
constexpr const char* guide = R"(stroke="#ddd" stroke-width="0.4")";

double deviation(const Curve& c, std::size_t i) { return std::isfinite(c.sd[i]) ? c.sd[i] : 0.0; }

// Overlapping bands darken: many must be lighter than a few.
double opacity(std::size_t curves) { return std::clamp(0.7 / static_cast<double>(curves), 0.05, 0.17); }

// Labels need their own width and some space.
int max_labels(double width, double max_width) { return std::clamp(static_cast<int>(width / (max_width + 8)), 2, 6); }

}  // namespace

PanelDrawing::PanelDrawing(const Panel& panel) : panel_(&panel), x_(panel.log_x), y_(panel.log_y) {
  for (const Curve& c : panel.curves)
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (!takes(c, i)) continue;
      x_.include(c.x[i]);
      y_.include(c.mean[i]);
      y_.include(c.mean[i] + deviation(c, i));
      // A band that nearly reaches 0 would stretch a logarithmic axis without end.
      const double down = c.mean[i] - deviation(c, i);
      if (!panel.log_y || down > 0.3 * c.mean[i]) y_.include(down);
    }
  const auto is_dot = [](const Curve& c) { return c.x.size() == 1; };
  // Lines may run into the frame; a dot there would be cut in half.
  x_.settle_from_zero(std::any_of(panel.curves.begin(), panel.curves.end(), is_dot) ? 0.04 : 0.0);
  y_.settle(0.04);
  y_ticks_ = y_.ticks(5);
}

double PanelDrawing::left() const {
  return y_ticks_.max_width(tick_size) + 4 + (panel_->y_label.empty() ? 0 : label_size + 5);
}

std::string PanelDrawing::point(const Frame& f, double x, double y) const {
  // Far outside is as good as outside: renderers have their limits.
  return fmt::format("{:.2f},{:.2f} ", f.x + f.width * x_.part(x),
                     f.y + f.height * (1 - std::clamp(y_.part(y), -1.0, 2.0)));
}

void PanelDrawing::draw_axes(Svg& svg, const Frame& f) const {
  for (const Tick& t : y_ticks_.all) {
    const double y = f.y + f.height * (1 - t.part);
    if (!t.minor) svg.line(f.x, y, f.x + f.width, y, guide);
    svg.line(f.x, y, f.x + (t.minor ? 1.5 : 3), y, mark);
    if (!t.minor) svg.text(f.x - 3, y + 0.36 * tick_size, "end", tick_size, t.label);
  }
  const Ticks ticks = x_.ticks(max_labels(f.width, x_.ticks(4).max_width(tick_size)));
  const double bottom = f.y + f.height;
  for (const Tick& t : ticks.all) {
    const double x = f.x + f.width * t.part;
    svg.line(x, bottom, x, bottom - (t.minor ? 1.5 : 3), mark);
    if (!t.minor) svg.text(x, bottom + tick_size + 2, "middle", tick_size, t.label);
  }
  if (!y_ticks_.factor.text.empty()) svg.text(f.x, f.y - 2.5, "start", tick_size, y_ticks_.factor);
  Words label{panel_->x_label, {}};
  if (!ticks.factor.text.empty()) label = {panel_->x_label + "  " + ticks.factor.text, ticks.factor.power};
  svg.text(f.x + f.width / 2, bottom + below - 5, "middle", label_size, label);
  if (panel_->y_label.empty()) return;
  const double x = f.x - left() + label_size, y = f.y + f.height / 2;
  svg.text(x, y, "middle", label_size, {fitted(panel_->y_label, label_size, f.height), {}},
           fmt::format(R"x(transform="rotate(-90 {:.1f} {:.1f})")x", x, y));
}

void PanelDrawing::draw_band(Svg& svg, const Frame& f, const Curve& c, std::size_t style) const {
  std::string upper, lower;
  bool any = false;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    if (takes(c, i)) {
      any = any || deviation(c, i) > 0;
      upper += point(f, c.x[i], c.mean[i] + deviation(c, i));
    }
  if (!any) return;
  for (std::size_t i = c.x.size(); i-- > 0;)
    if (takes(c, i)) {
      const double down = c.mean[i] - deviation(c, i);
      lower += point(f, c.x[i], y_.takes(down) ? down : y_.floor());
    }
  const bool dot = std::count(upper.begin(), upper.end(), ' ') == 1;  // a polygon of no width: a bar instead
  const char* colour = line_style(style).colour;
  svg.add(fmt::format(
      R"(<polygon points="{}{}" fill="{}" fill-opacity="{:.2f}" stroke="{}" stroke-opacity="0.5" stroke-width="{}"/>)",
      upper, lower, colour, opacity(panel_->curves.size()), colour, dot ? "1" : "0"));
}

void PanelDrawing::draw_line(Svg& svg, const Frame& f, const Curve& c, std::size_t style) const {
  std::string line;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    if (takes(c, i)) line += point(f, c.x[i], c.mean[i]);
  if (line.empty()) return;
  const LineStyle s = line_style(style);
  const std::size_t comma = line.find(',');
  if (line.find(' ') == line.size() - 1)
    svg.add(fmt::format(R"(<circle cx="{}" cy="{}" r="1.8" fill="{}"/>)", line.substr(0, comma),
                        line.substr(comma + 1, line.size() - comma - 2), s.colour));
  else
    svg.add(fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="1.1" stroke-linejoin="round" )"
                        R"(stroke-dasharray="{}"/>)",
                        line, s.colour, s.dash));
}

void PanelDrawing::draw(Svg& svg, const Frame& f, const std::vector<std::size_t>& styles, std::size_t id) const {
  draw_axes(svg, f);
  const std::string rectangle =
      fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}")", f.x, f.y, f.width, f.height);
  svg.add(fmt::format(R"x(<clipPath id="panel{0}">{1}/></clipPath><g clip-path="url(#panel{0})">)x", id, rectangle));
  for (std::size_t i = 0; i < panel_->curves.size(); ++i) draw_band(svg, f, panel_->curves[i], styles[i]);
  for (std::size_t i = 0; i < panel_->curves.size(); ++i) draw_line(svg, f, panel_->curves[i], styles[i]);
  svg.add("</g>");
  svg.add(fmt::format(R"({} fill="none" {}/>)", rectangle, mark));
}

}  // namespace obolus
