#include "report/comparison_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "obolus/core/error.hpp"
#include "run/cell_log.hpp"
#include "run/durable_file.hpp"

namespace obolus {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

// Finished runs by stream, then by optimiser, in the order of the file.
struct Group {
  std::string stream, optimiser, setting;
  std::vector<CellResult> cells;
};

std::vector<Group> groups_of(const std::string& path) {
  std::vector<Group> groups;
  std::istringstream lines(read_whole_file(path, most_bytes));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    JobRecord record = record_of(line, fmt::format("{}:{}", path, ++number));
    const JobName& name = record.name;
    if (name.optimiser.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.stream == name.stream && g.optimiser == name.optimiser; });
    if (group == groups.end()) group = groups.insert(group, {name.stream, name.optimiser, name.setting, {}});
    if (group->setting == name.setting) group->cells.push_back(std::move(record.cell));
  }
  return groups;
}

double number(const Reading& r, const std::string& measure) {
  if (measure == "regret") return r.regret;
  return r.evaluation.find(measure).value_or(std::numeric_limits<double>::quiet_NaN());
}

Curve curve_of(const Group& group, const std::string& measure) {
  std::map<Round, std::vector<double>> at;
  for (const CellResult& cell : group.cells)
    for (const Reading& r : cell.evaluations)
      if (const double v = number(r, measure); std::isfinite(v)) at[r.t].push_back(v);
  Curve curve{group.optimiser, {}, {}, {}};
  for (const auto& [t, values] : at) {
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / double(values.size());
    for (const double v : values) squares += (v - mean) * (v - mean);
    curve.x.push_back(double(t)), curve.mean.push_back(mean);
    curve.sd.push_back(values.size() > 1 ? std::sqrt(squares / double(values.size() - 1)) : 0.0);
  }
  return curve;
}

std::vector<std::string> first_measures(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& g : groups)
    for (const CellResult& cell : g.cells) {
      if (cell.evaluations.empty()) continue;
      if (cell.has_regret) names.emplace_back("regret");
      for (const auto& [name, value] : cell.evaluations.back().evaluation)
        if (names.size() < (cell.has_regret ? 4u : 3u)) names.push_back(name);
      return names;
    }
  return names;
}

}  // namespace

Figure comparison_figure(const std::string& folder, std::vector<std::string> measures) {
  const std::string path = folder + "/cells.jsonl";
  const std::vector<Group> groups = groups_of(path);
  if (measures.empty()) measures = first_measures(groups);
  if (measures.empty())
    throw DataError(path + ": has no evaluated rounds, expected runs with [metrics] evaluate_every");
  Figure figure;
  std::vector<std::string> streams;
  for (const Group& g : groups)
    if (std::find(streams.begin(), streams.end(), g.stream) == streams.end()) streams.push_back(g.stream);
  for (const std::string& stream : streams) {
    auto& row = figure.rows.emplace_back();
    for (const std::string& measure : measures) {
      Panel& panel = row.emplace_back(Panel{stream + ": " + measure, "round", measure.ends_with("regret"), {}});
      for (const Group& g : groups)
        if (g.stream == stream)
          if (Curve c = curve_of(g, measure); !c.x.empty()) panel.curves.push_back(std::move(c));
      if (panel.curves.empty())
        throw DataError(fmt::format("{}: has no numbers named '{}' in stream '{}'", path, measure, stream));
    }
  }
  return figure;
}

}  // namespace obolus
