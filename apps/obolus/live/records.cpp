#include "live/records.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/cell_records.hpp"
#include "run/profile_json.hpp"

namespace obolus::cli {
namespace {

Json reading_json(const Reading& reading) {
  Json row = {{"t", reading.t}};
  for_each_number(reading, [&](std::string_view name, double value) {
    if (std::isfinite(value)) row[name] = value;
  });
  for (const auto& [name, value] : reading.evaluation) row["evaluation"][name] = value;
  return row;
}

}  // namespace

Json row_json(const Row& r) {
  Json row = {{"t", r.t}};
  for (const RowColumn& column : row_columns)
    if (!column.is(RowColumn::no_trace) && column.present(r)) row[column.name] = column.number(r);
  for (const auto& [name, value] : r.evaluation) row["evaluation"][name] = value;
  return row;
}

std::optional<LiveRun> run_of_cell(const std::string& line) {
  const auto [name, cell, variation] = record_of(line, "cells.jsonl");
  if (name.optimiser.empty()) return std::nullopt;
  LiveRun run;
  run.name = {name.stream, name.optimiser, name.setting, name.seed};
  run.status = cell.diverged ? "diverged" : "finished";
  run.quantity = cell.quantity;
  run.rounds = cell.rounds;
  run.horizon = name.horizons.back();
  if (cell.untrusted > 0)
    run.notes.push_back(fmt::format("{} reference hypergradients missed their tolerance", cell.untrusted));
  if (!cell.profiles.empty()) run.more["x"] = profiles_json(cell.profiles);
  if (cell.x.size > 0) run.more["final"] = distribution_json(cell.x);
  for (const Reading* reading : rows_of(cell)) run.columns.append(reading_json(*reading));
  return run;
}

}  // namespace obolus::cli
