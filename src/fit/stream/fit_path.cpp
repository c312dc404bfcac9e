#include "fit/stream/fit_path.hpp"

#include <filesystem>

#include "obolus/core/error.hpp"
#include "report/line_reader.hpp"
#include "report/shallow_json.hpp"

namespace obolus::fit {

std::vector<FitPathPoint> path_of_trace(const std::string& path) {
  std::error_code none;
  LineReader lines(std::filesystem::is_directory(path, none) ? path + "/trace.jsonl" : path);
  std::vector<FitPathPoint> points;
  for (std::string line; lines.next(line);) try {
      const auto json = parse_shallow(line);
      FitPathPoint point{json.at("t").get<std::int64_t>(), json.at("x_values").get<std::vector<double>>()};
      if (point.round < 1 || (!points.empty() && point.round <= points.back().round))
        throw DataError(lines.place() + ": expected rounds that go up");
      points.push_back(std::move(point));
    } catch (const nlohmann::json::exception&) {
      if (!lines.ended()) break;  // torn by a crash, or still being written
      throw DataError(lines.place() + ": expected a line of the trace of `obolus fit`, with t and x_values");
    }
  if (points.empty()) throw DataError(path + ": got no rounds, expected the trace of `obolus fit`");
  return points;
}

}  // namespace obolus::fit
