// The runs of a comparison, from its log.
#include <fmt/format.h>

#include "report/cell_records.hpp"
#include "report/report_run.hpp"

namespace obolus {
namespace {

ReportRun run_of(JobRecord&& record) {
  ReportRun run;
  CellResult& cell = record.cell;
  run.stream = record.name.stream;
  run.optimiser = record.name.optimiser;
  run.setting = record.name.setting;
  run.seed = record.name.seed;
  run.horizon = record.name.horizons.back();
  run.rounds = cell.rounds;
  run.status = cell.diverged ? "diverged" : "finished";
  run.quantity = cell.quantity;
  if (cell.untrusted > 0)
    run.notes.push_back(fmt::format("{} reference hypergradients missed their tolerance", cell.untrusted));
  run.columns = columns_of(cell);
  run.profiles = std::move(cell.profiles);
  run.x = std::move(cell.x);
  return run;
}

}  // namespace

TraceColumns columns_of(const CellResult& cell) {
  TraceColumns columns;
  for (const Reading* r : rows_of(cell)) {
    TraceRow row{r->t, {}, {}};
    for_each_number(*r, [&](std::string_view name, double v) { row.numbers.push_back({std::string(name), v, false}); });
    for (const auto& [name, value] : r->evaluation) row.numbers.push_back({name, value, true});
    columns.append(row);
  }
  return columns;
}

std::vector<ReportRun> runs_of_cells(const std::string& folder) {
  std::vector<ReportRun> runs;
  for_each_cell(folder, [&](JobRecord&& record) { runs.push_back(run_of(std::move(record))); });
  return runs;
}

}  // namespace obolus
