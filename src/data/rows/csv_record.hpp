// One record of a CSV file, RFC 4180: quotes around cells, doubled inside them, which may hold delimiters and line ends.
// Beyond it, a quote that does not begin its cell is a character like any other, and empty lines are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/rows/line_source.hpp"

namespace obolus {

class CsvRecord {
 public:
  // False at the end. Throws BadRow, and DataError for a quote that is never closed: everything behind it is lost.
  [[nodiscard]] bool next(LineSource& lines, char delimiter);
  // The same for a record that begins with the last line of `lines`.
  void read(LineSource& lines, std::string_view line, char delimiter);

  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return text_view(cells_[i]); }
  [[nodiscard]] std::size_t line() const { return line_; }  // where it began
  [[nodiscard]] std::size_t line(std::size_t i) const { return cells_[i].line; }
  [[nodiscard]] std::size_t column(std::size_t i) const { return cells_[i].column; }
  [[nodiscard]] std::size_t end_column() const { return end_column_; }

 private:
  struct Span {  // of text_, which moves while it grows
    std::size_t begin = 0, size = 0, line = 0, column = 0;
  };
  [[nodiscard]] std::string_view text_view(const Span& cell) const {
    return std::string_view(text_).substr(cell.begin, cell.size);
  }
  // From the quote on; returns where the cell ended in `line`, which may be a later one by then.
  [[nodiscard]] std::size_t read_quoted(LineSource& lines, std::string_view& line, std::size_t at, char delimiter);

  std::string text_;
  std::vector<Span> cells_;
  std::size_t line_ = 0, end_column_ = 0;
};

}  // namespace obolus
