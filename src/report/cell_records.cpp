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
  for (const RowColumn& column : row_columns)
    if (!column.is(RowColumn::no_cells)) see(column.name, r.number(column));
}

}  // namespace obolus
