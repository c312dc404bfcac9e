#include "report/cell_records.hpp"

#include <map>
#include <utility>

#include "obolus/core/error.hpp"
#include "trace/line_reader.hpp"

namespace obolus {

void for_each_cell(const std::string& folder, const std::function<void(JobRecord&&)>& see) {
  LineReader lines(folder + "/cells.jsonl");
  for (std::string line; lines.next(line);) {
    JobRecord record;
    try {
      record = record_of(line, lines.place());
    } catch (const DataError&) {
      if (!lines.ended()) return;  // killed while writing, or still writing
      throw;
    }
    if (!record.name.optimiser.empty()) see(std::move(record));
  }
}

std::vector<const Reading*> rows_of(const CellResult& cell) {
  std::map<Round, const Reading*> at;
  for (const auto* readings : {&cell.curve, &cell.evaluations})
    for (const Reading& r : *readings) at[r.t] = &r;
  std::vector<const Reading*> rows;
  for (const auto& [t, reading] : at) rows.push_back(reading);
  return rows;
}

void for_each_number(const Reading& r, const std::function<void(std::string_view, double)>& see) {
  const OracleCounts& c = r.counts;
  const auto count = [](std::int64_t n) { return static_cast<double>(n); };
  const std::pair<std::string_view, double> numbers[] = {{"f", r.f},
                                                         {"g", r.g},
                                                         {"regret", r.regret},
                                                         {"own_mapping", r.own_mapping},
                                                         {"hypergradient_error", r.hypergradient_error},
                                                         {"residual_y", r.residual_y},
                                                         {"residual_z", r.residual_z},
                                                         {"separation", r.separation},
                                                         {"lambda", r.lambda},
                                                         {"inner_steps", r.inner_steps},
                                                         {"grad_f", count(c.grad_f())},
                                                         {"grad_g", count(c.grad_g())},
                                                         {"hvp", count(c.hvp_yy)},
                                                         {"cross", count(c.hvp_xy)},
                                                         {"values", count(c.values)},
                                                         {"samples", count(c.samples)},
                                                         {"seconds", r.seconds}};
  for (const auto& [name, value] : numbers) see(name, value);
}

}  // namespace obolus
