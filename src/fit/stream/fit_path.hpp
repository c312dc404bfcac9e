// The path of a fit's hyperparameters, as its trace has it.
#pragma once

#include <string>
#include <vector>

#include "obolus/fit/fit.hpp"

namespace obolus::fit {

// Of FOLDER/trace.jsonl or such a file itself. Throws DataError.
[[nodiscard]] std::vector<FitPathPoint> path_of_trace(const std::string& path);

}  // namespace obolus::fit
