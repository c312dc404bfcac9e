// The runs of a comparison, from its log.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/cell_records.hpp"
#include "report/report_run.hpp"

namespace obolus {
namespace {

void add_numbers(const CellResult& cell, ReportRun& run) {
  ReportColumns columns, evaluation;
  for (const Reading* r : rows_of(cell)) {
    columns.begin_row(), evaluation.begin_row();
    columns.put("t", static_cast<double>(r->t));
    for_each_number(*r, [&](std::string_view name, double value) { columns.put(name, value); });
    for (const auto& [name, value] : r->evaluation) evaluation.put(name, value);
  }
  run.columns = std::move(columns).take(), run.evaluation = std::move(evaluation).take();
  std::erase_if(run.columns, [](const auto& c) {
    return std::none_of(c.values.begin(), c.values.end(), [](double v) { return std::isfinite(v); });
  });
}

ReportRun run_of(JobRecord&& record) {
  ReportRun run;
  CellResult& cell = record.cell;
  run.stream = record.name.stream, run.optimiser = record.name.optimiser, run.setting = record.name.setting;
  run.seed = record.name.seed, run.horizon = record.name.horizons.back(), run.rounds = cell.rounds;
  run.status = cell.diverged ? "diverged" : "finished", run.quantity = cell.quantity;
  if (cell.untrusted > 0)
    run.notes.push_back(fmt::format("{} reference hypergradients missed their tolerance", cell.untrusted));
  add_numbers(cell, run);
  run.profiles = std::move(cell.profiles), run.x = std::move(cell.x);
  return run;
}

}  // namespace

std::vector<ReportRun> runs_of_cells(const std::string& folder) {
  std::vector<ReportRun> runs;
  for_each_cell(folder, [&](JobRecord&& record) { runs.push_back(run_of(std::move(record))); });
  return runs;
}

}  // namespace obolus
