// The trace of a run.
#include <filesystem>

#include "data/durable_file.hpp"
#include "report/config_facts.hpp"
#include "report/series.hpp"

namespace obolus {
namespace {

// Who ran on what, and what runs of other seeds share with it.
Series identity(const std::string& folder) {
  const std::string name = std::filesystem::canonical(folder).filename().string();
  Series s{folder, "", name, "", 0, false, "folder " + folder, {}};
  const std::string path = folder + "/config.toml";
  if (!std::filesystem::exists(path)) return s;
  const ConfigFacts facts = facts_of_run(read_whole_file(path, 1 << 24));
  if (!facts.problem.empty()) s.stream = facts.problem;
  if (!facts.optimiser.empty()) s.label = facts.optimiser;
  s.seed = facts.seed;
  if (facts.values.empty()) return s;
  s.seedless_key.clear();
  for (const auto& [key, value] : facts.values) s.seedless_key.append(key).append(" = ").append(value).append("\n");
  return s;
}

}  // namespace

void read_run(const std::string& folder, const Selection& selection, FolderContents& into) {
  Series series = identity(folder);
  into.note_stream(series.stream);
  if (!selection.stream.empty() && selection.stream != series.stream) return;
  const TraceColumns columns = read_trace(folder + "/trace.jsonl");
  series.take(columns, selection);
  into.note_measures(columns);
  into.series.push_back(std::move(series));
}

}  // namespace obolus
