// The path of a fit's hyperparameters, read from its trace.
#pragma once

#include <string>
#include <vector>

#include "obolus/fit/fit.hpp"

namespace obolus::fit {

// From a run folder or a trace.jsonl. Throws DataError.
[[nodiscard]] std::vector<FitPathPoint> path_of_trace(const std::string& path);

}  // namespace obolus::fit
