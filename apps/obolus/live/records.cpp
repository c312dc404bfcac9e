#include "live/records.hpp"

#include <fmt/format.h>

#include "report/report_run.hpp"
#include "run/cell_log.hpp"
#include "run/profile_json.hpp"

namespace obolus::cli {

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
  static_cast<TraceColumns&>(run.columns) = columns_of(cell);
  return run;
}

}  // namespace obolus::cli
