// The finished runs in a comparison's log, and their numbers by the names that traces have.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/cell_log.hpp"

namespace obolus {

// Of FOLDER/cells.jsonl, in its order. Throws DataError naming file and line.
void for_each_cell(const std::string& folder, const std::function<void(JobRecord&&)>& see);

// The curve's rounds and the evaluated ones, each once. The horizons are left out: where a preset depends on them, all
// but the last are other runs.
[[nodiscard]] std::vector<const Reading*> rows_of(const CellResult& cell);

// All but t and the evaluation; some may not be finite.
void for_each_number(const Reading& r, const std::function<void(std::string_view, double)>& see);

}  // namespace obolus
