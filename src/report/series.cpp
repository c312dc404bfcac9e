#include "report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

// e^44 > 2^63: every round there can be falls into 44 · 45 < 2,000 bins.
constexpr double bins_an_e_fold = 45;
// More names than this are no trace of ours.
constexpr std::size_t max_names = 1000;

}  // namespace

bool Thinned::keeps(const Point& point) const {
  if (kept_.empty()) return true;
  if (!in_ratios_) return seen_ % stride_ == 0;
  const auto bin = [](Round t) { return std::floor(bins_an_e_fold * std::log(static_cast<double>(t))); };
  return bin(point.t) > bin(kept_.back().t);
}

void Thinned::add(const Point& point) {
  if (keeps(point)) kept_.push_back(point);
  last_ = point, ++seen_;
  if (kept_.size() < max) return;  // one place is the last point's
  for (std::size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  stride_ *= 2;
}

std::vector<Point> Thinned::points() const {
  std::vector<Point> all = kept_;
  if (!all.empty() && all.back().t != last_.t) all.push_back(last_);
  return all;
}

std::size_t Columns::find(std::string_view name, bool evaluation) {
  const auto is = [&](const Column& c) { return c.offer.name == name && c.offer.evaluation == evaluation; };
  if (next_ < columns_.size() && is(columns_[next_])) return next_++;
  const auto found = std::find_if(columns_.begin(), columns_.end(), is);
  next_ = to_size(found - columns_.begin()) + 1;
  if (found != columns_.end()) return next_ - 1;
  if (columns_.size() == max_names)
    throw DataError(fmt::format("got more than {} measures, expected at most so many", max_names));
  const auto& asked = selection_->measures;
  const bool wanted = !selection_->names_only && (asked.empty() ? evaluation || name == "regret" || name == "f"
                                                                : std::count(asked.begin(), asked.end(), name) > 0);
  columns_.push_back({{std::string(name), evaluation}, wanted, Thinned(selection_->in_ratios)});
  return columns_.size() - 1;
}

void Columns::add(std::string_view name, bool evaluation, const Point& point) {
  Column& column = columns_[find(name, evaluation)];
  if (column.wanted) column.points.add(point);
}

void Series::take(const Columns& columns) {
  for (const Columns::Column& c : columns.all())
    if (c.wanted) measures.push_back({c.offer.name, c.points.points()});
}

const std::vector<Point>& Series::of(std::string_view measure) const {
  static const std::vector<Point> none;
  const auto found =
      std::find_if(measures.begin(), measures.end(), [&](const Measure& m) { return m.name == measure; });
  return found == measures.end() ? none : found->points;
}

void Holdings::offer(const Columns& columns) {
  for (const Columns::Column& c : columns.all())
    if (std::none_of(offers.begin(), offers.end(), [&](const Offer& o) { return o.name == c.offer.name; }))
      offers.push_back(c.offer);
}

void Holdings::note_stream(const std::string& stream) {
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

Holdings read_series(const std::vector<std::string>& folders, const Selection& selection) {
  Holdings all;
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
    throw ConfigError(fmt::format("--stream {}: no folder holds such a stream{}", selection.stream,
                                  suggestion(selection.stream, there)));
  return all;
}

}  // namespace obolus
