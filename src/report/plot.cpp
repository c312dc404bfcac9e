#include "report/plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "report/curve_groups.hpp"

namespace obolus {
namespace {

Selection selection(const PlotOptions& options) {
  Selection s;
  s.measures = options.measures;
  s.in_ratios = options.log_x;
  s.stream = options.stream;
  s.setting = options.setting;
  return s;
}

std::string folders(const PlotOptions& options) {
  return options.folders.size() == 1
             ? options.folders.front()
             : fmt::format("{} and {} more", options.folders.front(), options.folders.size() - 1);
}

std::vector<std::string> names(const std::vector<MeasureName>& measures) {
  std::vector<std::string> all;
  for (const MeasureName& m : measures) all.push_back(m.name);
  return all;
}

std::vector<std::string> first_measures(const std::vector<MeasureName>& measures) {
  std::vector<std::string> chosen;
  for (const char* name : {"regret", "f"})
    if (std::any_of(measures.begin(), measures.end(), [&](const MeasureName& m) { return m.name == name; }))
      chosen.emplace_back(name);
  std::size_t evaluations = 0;
  for (const MeasureName& m : measures)
    if (m.evaluation && evaluations < 2) {
      chosen.push_back(m.name);
      ++evaluations;
    }
  return chosen;
}

bool logarithmic(const std::string& measure) {
  return measure.ends_with("regret") || measure.starts_with("residual") || measure == "hypergradient_error";
}

std::string words(std::string measure) {
  if (measure == "lambda") return "λ";
  std::replace(measure.begin(), measure.end(), '_', ' ');
  return measure;
}

std::string words(Abscissa x) {
  switch (x) {
    case Abscissa::gradients: return "gradients";
    case Abscissa::seconds: return "seconds";
    case Abscissa::rounds: break;
  }
  return "round";
}

Panel panel_of(const std::vector<CurveGroup>& groups, const std::string& stream, const std::string& measure,
               const PlotOptions& o) {
  Panel panel{words(o.x), words(measure), o.log_x, o.log_y.value_or(logarithmic(measure)), {}};
  for (const CurveGroup& g : groups) {
    if (g.stream() != stream) continue;
    std::vector<const std::vector<Point>*> runs;
    for (const Series* s : g.seeds) runs.push_back(&s->of(measure));
    Curve curve = pooled(runs, o.x);
    if (curve.x.empty()) continue;
    curve.label = g.label;
    if (o.log_x && measure.ends_with("regret"))
      if (const auto p = slope(runs, o.x)) curve.note = fmt::format("slope {:.2f}", *p);
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

std::vector<std::string> streams_of(const std::vector<CurveGroup>& groups) {
  std::vector<std::string> streams;
  for (const CurveGroup& g : groups)
    if (std::find(streams.begin(), streams.end(), g.stream()) == streams.end()) streams.push_back(g.stream());
  return streams;
}

}  // namespace

std::vector<std::string> measures_of(const PlotOptions& options) {
  Selection s = selection(options);
  s.names_only = true;
  return names(read_series(options.folders, s).measures);
}

Plot plot(const PlotOptions& options) {
  FolderContents contents = read_series(options.folders, selection(options));
  const auto measures = options.measures.empty() ? first_measures(contents.measures) : options.measures;
  if (measures.empty()) throw DataError(folders(options) + ": holds no finished rounds, expected some to draw");
  const auto offered = names(contents.measures);
  for (const std::string& m : measures)
    if (std::find(offered.begin(), offered.end(), m) == offered.end())
      throw DataError(fmt::format("{}: holds no numbers named '{}'{}", folders(options), m, suggestion(m, offered)));
  const auto groups = only(curve_groups(contents.series), options.only);
  Plot result{{options.title, options.width_mm, {}}, std::move(contents.remarks)};
  const auto streams = streams_of(groups);
  for (const std::string& stream : streams) {
    PanelRow row{streams.size() > 1 ? stream : "", {}};
    for (const std::string& m : measures)
      if (Panel panel = panel_of(groups, stream, m, options); !panel.curves.empty())
        row.panels.push_back(std::move(panel));
    if (!row.panels.empty()) result.figure.rows.push_back(std::move(row));
  }
  if (result.figure.rows.empty())
    throw DataError(fmt::format("{}: no round has '{}' in every seed", folders(options), fmt::join(measures, "', '")));
  for (std::string& line : unequal_lengths(groups)) result.remarks.push_back(std::move(line));
  return result;
}

}  // namespace obolus
