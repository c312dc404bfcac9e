// cells.jsonl: one JSON object per finished job, appended. Numbers read back as the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "obolus/run/comparison_result.hpp"

namespace obolus {

// Identifies a job; the checksum says whether its options and data are still the same.
struct JobName {
  std::string stream, optimiser, setting;  // no optimiser: the job measures the stream
  std::int64_t seed = 0;
  std::vector<Round> horizons;
  std::string checksum;

  [[nodiscard]] std::string key() const;
};

struct JobRecord {
  JobName name;
  CellResult cell;
  std::vector<VariationSummary> variation;
};

[[nodiscard]] std::string line_of(const JobRecord& record);
// Throws DataError that names `place`.
[[nodiscard]] JobRecord record_of(const std::string& line, const std::string& place);

}  // namespace obolus
