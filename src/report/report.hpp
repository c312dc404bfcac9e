// A report's data from run folders alone, as one JSON document. web/src/data/contract.ts says the same in types.
#pragma once

#include <string>
#include <vector>

namespace obolus {

// How the report came about; nothing of it comes from the folders.
struct ReportOrigin {
  std::string command, date;
};

// Folders of runs and of comparisons, finished or not. Throws DataError where one holds neither, or is damaged.
[[nodiscard]] std::string report_json(const std::vector<std::string>& folders, const ReportOrigin& origin);

}  // namespace obolus
