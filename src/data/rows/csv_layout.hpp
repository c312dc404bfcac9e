// What the first rows of a CSV file reveal: the delimiter, whether there is a header, which columns are numeric.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows/column_rows.hpp"
#include "data/rows/line_source.hpp"

namespace obolus {

// Cells that stand for a missing value. The first byte rules out most numbers quickly.
class MissingValues {
 public:
  explicit MissingValues(std::vector<std::string> values);
  [[nodiscard]] bool has(std::string_view cell) const;
  [[nodiscard]] bool may_begin_with(char c) const { return begins_[static_cast<unsigned char>(c)]; }

 private:
  std::vector<std::string> values_;
  std::array<bool, 256> begins_{};
  bool empty_ = false;
};

struct CsvLayout {
  char delimiter = ',';
  bool header = false;
  std::vector<Column> columns;  // with their roles
  std::size_t looked_at = 0;    // rows
};

// Leaves `lines` at the first row of data. Ignores bad rows: they are read again later.
[[nodiscard]] CsvLayout csv_layout(LineSource& lines, const RowOptions& options, const MissingValues& missing);

}  // namespace obolus
