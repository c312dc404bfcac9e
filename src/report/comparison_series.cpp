// The finished runs of a comparison.
#include <cmath>

#include "report/cell_records.hpp"
#include "report/series.hpp"
#include "report/setting_choice.hpp"

namespace obolus {
namespace {

Columns columns_of(const CellResult& cell, const Selection& selection) {
  Columns columns(selection);
  for (const Reading* r : rows_of(cell)) {
    Point p{r->t, Costs{}.evaluations(r->counts), r->seconds, 0};
    const auto add = [&](std::string_view name, double value, bool evaluation = false) {
      p.value = value;
      if (std::isfinite(value)) columns.add(name, evaluation, p);
    };
    for_each_number(*r, [&](std::string_view name, double value) { add(name, value); });
    add("gradients", p.gradients);
    for (const auto& [name, value] : r->evaluation) add(name, value, true);
  }
  return columns;
}

}  // namespace

void read_comparison(const std::string& folder, const Selection& selection, Holdings& into) {
  SettingChoice choice(folder, selection.setting);
  const std::size_t before = into.series.size();
  for_each_cell(folder, [&](JobRecord&& record) {
    const JobName& name = record.name;
    into.note_stream(name.stream);
    if (!selection.stream.empty() && selection.stream != name.stream) return;
    if (!choice.takes(name.stream, name.optimiser, name.setting)) return;
    const Columns columns = columns_of(record.cell, selection);
    into.offer(columns);
    Series& s = into.series.emplace_back(
        Series{folder, name.stream, name.optimiser, name.setting, name.seed, true, "folder " + folder, {}});
    s.take(columns);
  });
  for (std::size_t i = before; i < into.series.size(); ++i) {
    Series& s = into.series[i];
    if (choice.several(s.stream, s.label)) s.label += ", " + s.setting;
  }
  for (std::string& remark : choice.remarks()) into.remarks.push_back(std::move(remark));
}

}  // namespace obolus
