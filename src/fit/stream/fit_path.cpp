#include "fit/stream/fit_path.hpp"

#include <filesystem>

#include "obolus/core/error.hpp"
#include "trace/trace_reader.hpp"

namespace obolus::fit {

std::vector<FitPathPoint> path_of_trace(const std::string& path) {
  std::error_code none;
  TraceReader trace(std::filesystem::is_directory(path, none) ? path + "/trace.jsonl" : path);
  std::vector<FitPathPoint> points;
  for (TraceRow row; trace.next(row);) {
    if (!row.x || row.x->quantiles)
      throw DataError(trace.place() + ": expected a line of the trace of `obolus fit`, with t and x_values");
    points.push_back({row.t, std::move(row.x->numbers)});
  }
  if (points.empty()) throw DataError(path + ": got no rounds, expected the trace of `obolus fit`");
  return points;
}

}  // namespace obolus::fit
