// One record of a CSV file as in RFC 4180: quoted cells may contain delimiters, line endings and doubled quotes. Beyond
// the RFC, a quote inside an unquoted cell is an ordinary character, and empty lines are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/rows/line_source.hpp"

namespace obolus {

class CsvRecord {
 public:
  // False at the end. Throws BadRow, or DataError for a quote that is never closed: it swallows the rest of the file.
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
  struct Span {  // within text_, which may move as it grows
    std::size_t begin = 0, size = 0, line = 0, column = 0;
  };
  [[nodiscard]] std::string_view text_view(const Span& cell) const {
    return std::string_view(text_).substr(cell.begin, cell.size);
  }
  // Starts at the quote; returns where the cell ends in `line`, which may be a later line by then.
  [[nodiscard]] std::size_t read_quoted(LineSource& lines, std::string_view& line, std::size_t at, char delimiter);

  std::string text_;
  std::vector<Span> cells_;
  std::size_t line_ = 0, end_column_ = 0;
};

}  // namespace obolus
