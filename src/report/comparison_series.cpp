// The finished runs of a comparison.
#include "report/cell_records.hpp"
#include "report/report_run.hpp"
#include "report/series.hpp"
#include "report/setting_choice.hpp"

namespace obolus {

void read_comparison(const std::string& folder, const Selection& selection, FolderContents& into) {
  SettingChoice choice(folder, selection.setting);
  const std::size_t before = into.series.size();
  for_each_cell(folder, [&](JobRecord&& record) {
    const JobName& name = record.name;
    into.note_stream(name.stream);
    if (!selection.stream.empty() && selection.stream != name.stream) return;
    if (!choice.takes(name.stream, name.optimiser, name.setting)) return;
    const TraceColumns columns = columns_of(record.cell);
    into.note_measures(columns);
    Series& s = into.series.emplace_back(
        Series{folder, name.stream, name.optimiser, name.setting, name.seed, true, "folder " + folder, {}});
    s.take(columns, selection);
  });
  for (std::size_t i = before; i < into.series.size(); ++i) {
    Series& s = into.series[i];
    if (choice.several(s.stream, s.label)) s.label += ", " + s.setting;
  }
  for (std::string& remark : choice.remarks()) into.remarks.push_back(std::move(remark));
}

}  // namespace obolus
