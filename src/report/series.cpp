#include "report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_points = 2000;  // of a curve
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

bool is_wanted(const MeasureName& measure, const Selection& selection) {
  if (selection.names_only) return false;
  const auto& asked = selection.measures;
  if (!asked.empty()) return std::find(asked.begin(), asked.end(), measure.name) != asked.end();
  return measure.evaluation || measure.name == "regret" || measure.name == "f";
}

// What a run had cost after each row.
class RowCosts {
 public:
  explicit RowCosts(const TraceColumns& columns) {
    for (const char* name : {"grad_f", "grad_g", "hvp", "cross", "values", "seconds"})
      columns_.push_back(columns.find(name));
  }
  // A product counts as two gradients, a value as half of one.
  [[nodiscard]] double gradients(std::size_t row) const {
    return at(0, row) + at(1, row) + 2 * (at(2, row) + at(3, row)) + 0.5 * at(4, row);
  }
  [[nodiscard]] double seconds(std::size_t row) const { return at(5, row); }

 private:
  [[nodiscard]] double at(std::size_t column, std::size_t row) const {
    return columns_[column] ? columns_[column]->at(row) : absent;
  }

  std::vector<const TraceColumns::Column*> columns_;
};

// Measures that a run has: its numbers without t, the gradients that they add up to, its evaluations.
template <class Visit>
void for_each_measure(const TraceColumns& columns, const Visit& visit) {
  for (const auto& c : columns.numbers())
    if (c.measured() && c.name != "t") visit(MeasureName{c.name, false}, c);
  const RowCosts costs(columns);
  bool counted = false;
  for (std::size_t row = 0; row < columns.rows() && !counted; ++row) counted = std::isfinite(costs.gradients(row));
  if (counted) visit(MeasureName{"gradients", false}, *columns.find("grad_f"));
  for (const auto& c : columns.evaluation())
    if (c.measured()) visit(MeasureName{c.name, true}, c);
}

}  // namespace

void Series::take(const TraceColumns& columns, const Selection& selection) {
  const RowCosts costs(columns);
  const RoundAxis axis = selection.in_ratios ? RoundAxis::logarithmic : RoundAxis::linear;
  for_each_measure(columns, [&](const MeasureName& name, const TraceColumns::Column& c) {
    if (!is_wanted(name, selection)) return;
    Measure& measure = measures.emplace_back(Measure{name.name, {}});
    const bool is_cost = name.name == "gradients" && !name.evaluation;
    for (const std::size_t row : columns.spaced(c, axis, max_points)) {
      const double gradients = costs.gradients(row);
      const double value = is_cost ? gradients : c.at(row);
      const auto t = static_cast<Round>(columns.t()[row]);
      if (std::isfinite(value)) measure.points.push_back({t, gradients, costs.seconds(row), value});
    }
  });
}

const std::vector<Point>& Series::of(std::string_view measure) const {
  static const std::vector<Point> none;
  const auto found =
      std::find_if(measures.begin(), measures.end(), [&](const Measure& m) { return m.name == measure; });
  return found == measures.end() ? none : found->points;
}

void FolderContents::note_measures(const TraceColumns& columns) {
  for_each_measure(columns, [&](const MeasureName& name, const TraceColumns::Column&) {
    if (std::none_of(measures.begin(), measures.end(), [&](const MeasureName& m) { return m.name == name.name; }))
      measures.push_back(name);
  });
}

void FolderContents::note_stream(const std::string& stream) {
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

FolderContents read_series(const std::vector<std::string>& folders, const Selection& selection) {
  FolderContents all;
  std::vector<fs::path> read;
  for (const std::string& folder : folders) {
    const bool run = fs::exists(folder + "/trace.jsonl"), comparison = fs::exists(folder + "/cells.jsonl");
    if (!run && !comparison)
      throw DataError(folder + ": holds neither trace.jsonl (a run) nor cells.jsonl (a comparison), expected one");
    const fs::path place = fs::canonical(folder);
    if (std::find(read.begin(), read.end(), place) != read.end())
      throw ConfigError(folder + ": is given twice, expected each folder once");
    read.push_back(place);
    if (comparison) read_comparison(folder, selection, all);
    else read_run(folder, selection, all);
  }
  const auto& there = all.streams;
  if (!selection.stream.empty() && std::find(there.begin(), there.end(), selection.stream) == there.end())
    throw ConfigError(
        fmt::format("--stream {}: no folder has this stream{}", selection.stream, suggestion(selection.stream, there)));
  return all;
}

}  // namespace obolus
