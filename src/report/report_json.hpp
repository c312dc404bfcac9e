// A report's data from run folders alone, as one JSON document. web/src/data/contract.ts says the same in types.
#pragma once

#include <string>
#include <vector>

namespace obolus {

// How the report was made; none of this is in the folders.
struct ReportOrigin {
  std::string command, date;
};

// Folders of runs and of comparisons, finished or not. Throws DataError if one
// holds neither, or is damaged.
[[nodiscard]] std::string report_json(const std::vector<std::string>& folders, const ReportOrigin& origin);

}  // namespace obolus
