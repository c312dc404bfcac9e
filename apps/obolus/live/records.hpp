// What the library tells of a run, as the page reads it.
#pragma once

#include <optional>
#include <string>

#include "live/live_run.hpp"
#include "obolus/metrics/row.hpp"

namespace obolus::cli {

// By the names of the trace; only what was measured.
[[nodiscard]] Json row_json(const Row& row);

// Of a line of cells.jsonl; nothing when the line is about a stream.
[[nodiscard]] std::optional<LiveRun> run_of_cell(const std::string& line);

}  // namespace obolus::cli
