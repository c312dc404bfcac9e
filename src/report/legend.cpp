#include "report/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

// Okabe and Ito's colours without the yellow, which is lost on white. In this order neighbours differ in grey as well,
// and so do the curves i and i + 6, which share a dash.
constexpr std::array colours{"#0072B2", "#E69F00", "#D55E00", "#56B4E9", "#009E73", "#000000", "#CC79A7"};
constexpr std::array dashes{"none", "5 2", "1.2 1.4", "6 1.6 1.2 1.6", "2.6 1.3", "9 2.5", "5 1.4 1.2 1.4 1.2 1.4"};
constexpr double size = 8, line = 11, sample = 22, gap = 4, between = 12;

double width_of(const LegendEntry& e) { return sample + gap + text_width(e.text, size) + between; }

void draw_entry(Svg& svg, const LegendEntry& e, double x, double y, double width) {
  const LineStyle style = line_style(e.style);
  svg.line(x, y, x + sample, y,
           fmt::format(R"(stroke="{}" stroke-width="1.2" stroke-dasharray="{}")", style.colour, style.dash));
  svg.text(x + sample + gap, y + 0.35 * size, "start", size,
           {fitted(e.text, size, width - sample - gap - between), {}});
}

}  // namespace

LineStyle line_style(std::size_t i) {
  return {colours[i % colours.size()], dashes[(i + i / colours.size()) % dashes.size()]};
}

double draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double y, double width) {
  if (entries.empty()) return 0;
  double sum = 0, max_width = 0;
  for (const LegendEntry& e : entries) {
    sum += width_of(e);
    max_width = std::max(max_width, width_of(e));
  }
  if (sum - between <= width) {
    double x = (width - sum + between) / 2;
    for (const LegendEntry& e : entries) {
      draw_entry(svg, e, x, y + line / 2, width_of(e) + 1);  // the estimate of its own width must not cut it
      x += width_of(e);
    }
    return line;
  }
  const auto columns = std::max<std::size_t>(1, to_size((width + between) / max_width));
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  const double column = std::min(max_width, width + between), used = column * static_cast<double>(columns) - between;
  const double x = std::max(0.0, (width - used) / 2);
  for (std::size_t i = 0; i < entries.size(); ++i) {  // down, then across
    const std::size_t across = i / rows, down = i % rows;
    draw_entry(svg, entries[i], x + column * static_cast<double>(across), y + line * (static_cast<double>(down) + 0.5),
               column + 1);
  }
  return line * static_cast<double>(rows);
}

}  // namespace obolus
