// Runs as a report shows them, whether they come from a trace or from a comparison's log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "obolus/run/comparison_result.hpp"
#include "obolus/run/profile.hpp"
#include "trace/trace_columns.hpp"

namespace obolus {

struct ReportRun {
  std::size_t source = 0;
  std::string stream, optimiser, setting;
  std::int64_t seed = 0;
  std::string status, quantity;
  Round rounds = 0, horizon = 0;
  std::vector<std::string> notes;
  TraceColumns columns;
  std::vector<Profile> profiles;
  Distribution x;
  std::optional<double> bound;
};

// Of FOLDER/trace.jsonl, with FOLDER/summary.json if the run has ended. At most 20,000 rows.
[[nodiscard]] ReportRun run_of_trace(const std::string& folder);
// Of FOLDER/cells.jsonl.
[[nodiscard]] std::vector<ReportRun> runs_of_cells(const std::string& folder);

// The rows of a comparison's run, by the names of a trace.
[[nodiscard]] TraceColumns columns_of(const CellResult& cell);

}  // namespace obolus
