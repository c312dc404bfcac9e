// Runs as a report shows them: numbers over rounds by name, whether they come from a trace or from a comparison's log.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "obolus/run/profile.hpp"

namespace obolus {

// Numbers by name, one a row; NaN where there is none.
class ReportColumns {
 public:
  struct Column {
    std::string name;
    std::vector<double> values;
  };

  static constexpr std::size_t max = 1000;  // names; more are refused

  void begin_row() { ++rows_; }
  void put(std::string_view name, double value);  // into the last row
  void keep_rows(const std::vector<bool>& kept);
  [[nodiscard]] std::size_t rows() const { return rows_; }
  // Every one of them filled up to the last row.
  [[nodiscard]] std::vector<Column> take() &&;

 private:
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

struct ReportRun {
  std::size_t source = 0;
  std::string stream, optimiser, setting;
  std::int64_t seed = 0;
  std::string status, quantity;
  Round rounds = 0, horizon = 0;
  std::vector<std::string> notes;
  std::vector<ReportColumns::Column> columns, evaluation;  // columns.front() is t
  std::vector<Profile> profiles;
  Distribution x;
  std::optional<double> bound;
};

// Of FOLDER/trace.jsonl, with FOLDER/summary.json where it is finished. At most 20,000 rows, evenly thinned.
[[nodiscard]] ReportRun run_of_trace(const std::string& folder);
// Of FOLDER/cells.jsonl.
[[nodiscard]] std::vector<ReportRun> runs_of_cells(const std::string& folder);

}  // namespace obolus
