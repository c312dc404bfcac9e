// Rows of named columns (CSV, ARFF): the role of each column, and what a cell becomes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/rows/line_rows.hpp"

namespace obolus {

enum class ColumnRole : std::uint8_t { numeric, categorical, label, weight, id, ignored };

struct Column {
  std::string name;
  ColumnRole role = ColumnRole::numeric;
  std::uint32_t group = 0;  // among the features: only features count
  std::uint64_t seed = 0;
  std::vector<std::string> values;  // sorted: the only values allowed; empty: any
};

// Replaces guessed roles by those of the options and numbers the groups. Throws ConfigError, which begins with the
// file.
void assign_roles(std::vector<Column>& columns, const RowOptions& options, const std::string& file);

// Such as "label y, weight w, 2 numeric (a, b), 1 categorical (c), 1 ignored (d)".
[[nodiscard]] std::string describe_columns(const std::vector<Column>& columns);

struct Cell {
  std::string_view text;
  std::size_t line = 0, column = 0;
  bool missing = false;
};

class ColumnRows : public LineRows {
 public:
  using LineRows::LineRows;
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::string label() const override;
  [[nodiscard]] bool has_kinds() const override { return true; }

 protected:
  void set_columns(std::vector<Column> columns);
  void take(const Column& column, const Cell& cell, DataRow& row);
  // Columns may come in another order: they are matched by name.
  void take_over(LineRows& before) override;
  [[nodiscard]] bool decided_before() const { return decided_before_; }
  // Whether the file says which columns are numeric: then files that differ in it contradict each other.
  [[nodiscard]] virtual bool declares_kinds() const { return false; }

 private:
  [[nodiscard]] double number(const Column& column, const Cell& cell);
  void refuse_cell(const Column& column, const Cell& cell, std::string_view expected);

  std::vector<Column> columns_;
  bool decided_before_ = false;  // by another file
};

}  // namespace obolus
