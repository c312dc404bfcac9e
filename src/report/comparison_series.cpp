// The finished runs of a comparison.
#include <algorithm>
#include <cmath>
#include <map>

#include "obolus/core/error.hpp"
#include "report/line_reader.hpp"
#include "report/series.hpp"
#include "report/setting_choice.hpp"
#include "run/cell_log.hpp"

namespace obolus {
namespace {

void add_reading(const Reading& r, Columns& columns) {
  Point p{r.t, Costs{}.evaluations(r.counts), r.seconds, 0};
  const auto add = [&](std::string_view name, double value, bool evaluation = false) {
    p.value = value;
    if (std::isfinite(value)) columns.add(name, evaluation, p);
  };
  add("f", r.f), add("regret", r.regret);
  add("grad_f", static_cast<double>(r.counts.grad_f())), add("grad_g", static_cast<double>(r.counts.grad_g()));
  add("hvp", static_cast<double>(r.counts.hvp)), add("cross", static_cast<double>(r.counts.cross));
  add("values", static_cast<double>(r.counts.values)), add("samples", static_cast<double>(r.counts.samples));
  add("seconds", r.seconds), add("gradients", p.gradients);
  for (const auto& [name, value] : r.evaluation) add(name, value, true);
}

// The curve's rounds and the evaluated ones, each once. The horizons are left out: where a preset depends on them, all but the last are other runs.
Columns columns_of(const CellResult& cell, const Selection& selection) {
  std::map<Round, const Reading*> at;
  for (const Reading& r : cell.curve) at[r.t] = &r;
  for (const Reading& r : cell.evaluations) at[r.t] = &r;
  Columns columns(selection);
  for (const auto& [t, reading] : at) add_reading(*reading, columns);
  return columns;
}

}  // namespace

void read_comparison(const std::string& folder, const Selection& selection, Holdings& into) {
  SettingChoice choice(folder, selection.setting);
  LineReader lines(folder + "/cells.jsonl");
  const std::size_t before = into.series.size();
  for (std::string line; lines.next(line);) {
    JobRecord record;
    try {
      record = record_of(line, lines.place());
    } catch (const DataError&) {
      if (!lines.ended()) break;  // killed while writing, or still writing
      throw;
    }
    const JobName& name = record.name;
    if (name.optimiser.empty()) continue;
    into.note_stream(name.stream);
    if (!selection.stream.empty() && selection.stream != name.stream) continue;
    if (!choice.takes(name.stream, name.optimiser, name.setting)) continue;
    const Columns columns = columns_of(record.cell, selection);
    into.offer(columns);
    Series& s = into.series.emplace_back(
        Series{folder, name.stream, name.optimiser, name.setting, name.seed, true, "folder " + folder, {}});
    s.take(columns);
  }
  for (std::size_t i = before; i < into.series.size(); ++i) {
    Series& s = into.series[i];
    if (choice.several(s.stream, s.label)) s.label += ", " + s.setting;
  }
  for (std::string& remark : choice.remarks()) into.remarks.push_back(std::move(remark));
}

}  // namespace obolus
