#include "report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "obolus/core/to_size.hpp"
#include "report/legend.hpp"
#include "report/panel.hpp"

namespace obolus {
namespace {

constexpr double point_mm = 25.4 / 72, title_size = 9, margin = 3, gutter = 8, min_panel = 108;

class Layout {
 public:
  explicit Layout(const Figure& figure) : figure_(&figure), width_(figure.width_mm / point_mm - 2 * margin) {
    std::size_t max_panels = 1;
    for (const PanelRow& row : figure.rows) {
      max_panels = std::max(max_panels, row.panels.size());
      for (const Panel& panel : row.panels) {
        const PanelDrawing& drawing = panels_.emplace_back(panel);
        left_ = std::max(left_, drawing.left());
        right_ = std::max(right_, drawing.right());
        for (const Curve& c : panel.curves) {
          (void)style_of(c.label);
          notes_ = notes_ || !c.note.empty();
        }
      }
    }
    columns_ = std::clamp<std::size_t>(to_size((width_ + gutter) / (min_panel + gutter)), 1, max_panels);
    frame_width_ =
        (width_ - right_ - gutter * static_cast<double>(columns_ - 1)) / static_cast<double>(columns_) - left_;
    frame_height_ = std::clamp(0.72 * frame_width_, 70.0, 190.0);
  }

  std::string draw() {
    if (!figure_->title.empty()) {
      y_ += title_size + 2;
      svg_.text(margin + width_ / 2, y_, "middle", title_size, {fitted(figure_->title, title_size, width_), {}});
      y_ += 4;
    }
    for (const PanelRow& row : figure_->rows) draw_row(row);
    if (!notes_) legend(figure_->rows);
    return svg_.finish(width_ + 2 * margin, y_ + margin);
  }

 private:
  std::size_t style_of(const std::string& label) {
    const auto found = std::find(labels_.begin(), labels_.end(), label);
    if (found != labels_.end()) return to_size(found - labels_.begin());
    labels_.push_back(label);
    return labels_.size() - 1;
  }

  void draw_row(const PanelRow& row) {
    if (!row.title.empty()) {
      y_ += title_size + 2;
      svg_.text(margin, y_, "start", title_size, {fitted(row.title, title_size, width_), {}}, "font-weight=\"bold\"");
    }
    const double step = left_ + frame_width_ + gutter;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      const std::size_t column = i % columns_;
      const Frame frame{margin + static_cast<double>(column) * step + left_, y_ + PanelDrawing::above, frame_width_,
                        frame_height_};
      std::vector<std::size_t> styles;
      for (const Curve& c : row.panels[i].curves) styles.push_back(style_of(c.label));
      panels_[drawn_].draw(svg_, frame, styles, drawn_);
      ++drawn_;
      if (column + 1 == columns_ || i + 1 == row.panels.size())
        y_ += PanelDrawing::above + frame_height_ + PanelDrawing::below;
    }
    if (notes_) legend({row});
  }

  // Every label once, with its notes in the order of the panels.
  void legend(const std::vector<PanelRow>& rows) {
    std::vector<LegendEntry> entries;
    std::vector<std::string> notes(labels_.size());
    for (const PanelRow& row : rows)
      for (const Panel& panel : row.panels)
        for (const Curve& c : panel.curves) {
          const std::size_t style = style_of(c.label);
          if (std::none_of(entries.begin(), entries.end(), [&](const auto& e) { return e.style == style; }))
            entries.push_back({style, c.label});
          if (!c.note.empty()) notes[style] += (notes[style].empty() ? "" : ", ") + c.note;
        }
    for (LegendEntry& e : entries)
      if (!notes[e.style].empty()) e.text += " (" + notes[e.style] + ")";
    svg_.add(fmt::format(R"x(<g transform="translate({} 0)">)x", margin));
    y_ += draw_legend(svg_, entries, y_, width_);
    svg_.add("</g>");
  }

  const Figure* figure_;
  Svg svg_;
  std::deque<PanelDrawing> panels_;
  std::vector<std::string> labels_;
  std::size_t columns_ = 1, drawn_ = 0;
  double width_, left_ = 0, right_ = 0, frame_width_ = 0, frame_height_ = 0, y_ = margin;
  bool notes_ = false;
};

}  // namespace

std::string Figure::svg() const { return Layout(*this).draw(); }

}  // namespace obolus
