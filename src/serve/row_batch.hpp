// The rows of a request, parsed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus::serve {

struct RowBatch {
  struct Row {
    DataRow row;
    std::size_t groups = 0;              // of `groups`, known up to this row
    std::size_t line = 0, line_end = 0;  // in `lines`
  };
  std::vector<Row> rows;
  std::vector<std::string> groups;  // of all rows, by first use
  std::string lines;                // of a journal, each with its line break

  [[nodiscard]] std::string_view line(const Row& row) const {
    return std::string_view(lines).substr(row.line, row.line_end - row.line);
  }
};

}  // namespace obolus::serve
