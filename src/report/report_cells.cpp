// The runs of a comparison, from its log.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "obolus/core/error.hpp"
#include "report/report_run.hpp"
#include "run/cell_log.hpp"

namespace obolus {
namespace {

void put(ReportColumns& columns, const Reading& r, bool has_regret) {
  const OracleCounts& c = r.counts;
  columns.put("t", double(r.t));
  columns.put("f", r.f), columns.put("g", r.g);
  if (has_regret) columns.put("regret", r.regret);
  columns.put("own_mapping", r.own_mapping), columns.put("hypergradient_error", r.hypergradient_error);
  columns.put("residual_y", r.residual_y), columns.put("residual_z", r.residual_z);
  columns.put("separation", r.separation), columns.put("lambda", r.lambda), columns.put("inner_steps", r.inner_steps);
  columns.put("grad_f", double(c.grad_f())), columns.put("grad_g", double(c.grad_g()));
  columns.put("hvp", double(c.hvp)), columns.put("cross", double(c.cross)), columns.put("values", double(c.values));
  columns.put("seconds", r.seconds);
}

ReportRun run_of(JobRecord record) {
  ReportRun run;
  CellResult& cell = record.cell;
  run.stream = record.name.stream, run.optimiser = record.name.optimiser, run.setting = record.name.setting;
  run.seed = record.name.seed, run.horizon = record.name.horizons.back(), run.rounds = cell.rounds;
  run.status = cell.diverged ? "diverged" : "finished", run.quantity = cell.quantity;
  if (cell.untrusted > 0)
    run.notes.push_back(fmt::format("{} reference hypergradients missed their tolerance", cell.untrusted));
  std::map<Round, const Reading*> rows;  // what was evaluated wins
  for (const auto* readings : {&cell.curve, &cell.evaluations})
    for (const Reading& r : *readings) rows[r.t] = &r;
  ReportColumns columns, evaluation;
  for (const auto& [t, reading] : rows) {
    columns.begin_row(), evaluation.begin_row();
    put(columns, *reading, cell.has_regret);
    for (const auto& [name, value] : reading->evaluation) evaluation.put(name, value);
  }
  run.columns = std::move(columns).take(), run.evaluation = std::move(evaluation).take();
  std::erase_if(run.columns, [](const auto& c) {
    return std::none_of(c.values.begin(), c.values.end(), [](double v) { return std::isfinite(v); });
  });
  run.profiles = std::move(cell.profiles), run.x = std::move(cell.x);
  return run;
}

}  // namespace

std::vector<ReportRun> runs_of_cells(const std::string& folder) {
  const std::string path = folder + "/cells.jsonl";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path + ": cannot open");
  std::vector<ReportRun> runs;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {  // without its end: not yet written
    JobRecord record = record_of(line, fmt::format("{}:{}", path, ++number));
    if (!record.name.optimiser.empty()) runs.push_back(run_of(std::move(record)));
  }
  return runs;
}

}  // namespace obolus
