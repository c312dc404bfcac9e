// Rows and finished runs as the live page reads them.
#pragma once

#include <optional>
#include <string>

#include "live/live_run.hpp"
#include "obolus/metrics/row.hpp"

namespace obolus::cli {

// What was measured, by the names of the trace.
[[nodiscard]] Json row_json(const Row& row);

// From a line of cells.jsonl; nothing when the line is about a stream.
[[nodiscard]] std::optional<LiveRun> run_of_cell(const std::string& line);

}  // namespace obolus::cli
