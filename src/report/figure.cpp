#include "report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace obolus {
namespace {

constexpr double panel_width = 300, panel_height = 210, left = 52, right = 12, top = 26, bottom = 34, legend_line = 15;
// Okabe and Ito's colours without the yellow, which is lost on white.
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
constexpr std::array dashes{"", "6 3", "2 2", "8 3 2 3"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

// From data to the panel, and where its marks stand.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool logarithmic = false;

  [[nodiscard]] double value(double v) const { return logarithmic ? std::log10(v) : v; }
  [[nodiscard]] bool takes(double v) const { return std::isfinite(v) && (!logarithmic || v > 0); }
  void include(double v) {
    if (takes(v)) low = std::min(low, value(v)), high = std::max(high, value(v));
  }
  void settle() {
    if (!(low <= high)) low = 0, high = 1;
    if (high - low < 1e-12 * std::max(1.0, std::abs(high))) low -= 0.5, high += 0.5;
  }
  [[nodiscard]] double part(double v) const { return std::clamp((value(v) - low) / (high - low), 0.0, 1.0); }
  [[nodiscard]] std::vector<double> marks() const {  // as data
    const double raw = (high - low) / 4, unit = std::pow(10.0, std::floor(std::log10(raw)));
    double step = unit * (raw / unit < 1.5 ? 1 : raw / unit < 3.5 ? 2 : raw / unit < 7.5 ? 5 : 10);
    if (logarithmic) step = std::max(1.0, std::round(step));
    std::vector<double> at;
    for (double v = std::ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step)
      at.push_back(logarithmic ? std::pow(10.0, v) : std::abs(v) < 1e-9 * step ? 0.0 : v);
    return at;
  }
};

class Drawing {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void text(double x, double y, const char* anchor, const std::string& words) {
    add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, y, anchor, escaped(words));
  }
  [[nodiscard]] std::string finish(double width, double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"white\"/>\n{2}</svg>\n",
        width, height, out_);
  }

 private:
  std::string out_;
};

struct Style {
  const char *colour, *dash;
};
Style style_of(std::size_t i) { return {colours[i % colours.size()], dashes[i / colours.size() % dashes.size()]}; }

void draw_axes(Drawing& d, const Panel& panel, const Axis& x, const Axis& y, double x0, double y0) {
  const double width = panel_width - left - right, height = panel_height - top - bottom;
  d.add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="none" stroke="#444"/>)", x0, y0, width,
        height);
  for (const double v : y.marks()) {
    const double at = y0 + height * (1 - y.part(v));
    d.add(R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="#ddd"/>)", x0, x0 + width, at, at);
    d.text(x0 - 4, at + 3, "end", fmt::format("{:.4g}", v));
  }
  for (const double v : x.marks()) d.text(x0 + width * x.part(v), y0 + height + 12, "middle", fmt::format("{:.4g}", v));
  d.text(x0 + width / 2, y0 - 8, "middle", panel.title);
  d.text(x0 + width / 2, y0 + height + 26, "middle", panel.x_label);
}

void draw_curve(Drawing& d, const Curve& c, Style style, const Axis& x, const Axis& y, double x0, double y0) {
  const double width = panel_width - left - right, height = panel_height - top - bottom;
  std::string line, upper, lower;
  const auto point = [&](double a, double b) {
    return fmt::format("{:.1f},{:.1f} ", x0 + width * x.part(a), y0 + height * (1 - y.part(b)));
  };
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (!y.takes(c.mean[i])) continue;
    line += point(c.x[i], c.mean[i]);
    const double sd = std::isfinite(c.sd[i]) ? c.sd[i] : 0.0, down = c.mean[i] - sd;
    upper += point(c.x[i], c.mean[i] + sd);
    lower.insert(0, point(c.x[i], y.takes(down) ? down : y.logarithmic ? std::pow(10.0, y.low) : y.low));
  }
  if (line.empty()) return;
  d.add(R"(<polygon points="{}{}" fill="{}" fill-opacity="0.15"/>)", upper, lower, style.colour);
  d.add(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="1.5" stroke-dasharray="{}"/>)", line,
        style.colour, style.dash);
}

}  // namespace

std::string Figure::svg() const {
  std::vector<std::string> labels;
  std::size_t columns = 0;
  for (const auto& row : rows) {
    columns = std::max(columns, row.size());
    for (const Panel& panel : row)
      for (const Curve& c : panel.curves)
        if (std::find(labels.begin(), labels.end(), c.label) == labels.end()) labels.push_back(c.label);
  }
  Drawing d;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t p = 0; p < rows[r].size(); ++p) {
      const Panel& panel = rows[r][p];
      Axis x, y;
      y.logarithmic = panel.logarithmic;
      for (const Curve& c : panel.curves)
        for (std::size_t i = 0; i < c.x.size(); ++i)
          if (y.takes(c.mean[i])) x.include(c.x[i]), y.include(c.mean[i]);
      x.settle(), y.settle();
      const double x0 = double(p) * panel_width + left, y0 = double(r) * panel_height + top;
      draw_axes(d, panel, x, y, x0, y0);
      for (const Curve& c : panel.curves) {
        const auto i = std::find(labels.begin(), labels.end(), c.label) - labels.begin();
        draw_curve(d, c, style_of(static_cast<std::size_t>(i)), x, y, x0, y0);
      }
    }
  const double width = std::max(1.0, double(columns)) * panel_width, end = double(rows.size()) * panel_height;
  const std::size_t across = std::max<std::size_t>(1, columns * 2);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double x = double(i % across) * width / double(across) + 14, y = end + 10 + double(i / across) * legend_line;
    const Style style = style_of(i);
    d.add(
        R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="1.5" stroke-dasharray="{}"/>)",
        x, x + 26, y, y, style.colour, style.dash);
    d.text(x + 32, y + 3, "start", labels[i]);
  }
  return d.finish(width, end + 10 + legend_line * double((labels.size() + across - 1) / across));
}

}  // namespace obolus
