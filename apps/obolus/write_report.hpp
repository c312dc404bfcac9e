#pragma once

#include <string>
#include <vector>

namespace obolus::cli {

// Writes the report of the folders to `out`, or into the first of them, and returns its absolute path.
std::string write_report(const std::vector<std::string>& folders, std::string out = {});

}  // namespace obolus::cli
