#include <fmt/format.h>

#include "data/rows/csv_layout.hpp"
#include "data/rows/csv_record.hpp"
#include "data/rows/number_text.hpp"
#include "data/rows/short_decimal.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class CsvRows : public ColumnRows {
 public:
  CsvRows(std::unique_ptr<LineSource> source, const RowOptions& options)
      : ColumnRows(std::move(source), options), missing_(options.missing) {
    CsvLayout layout = csv_layout(lines(), options, missing_);
    delimiter_ = layout.delimiter;
    number_holds_delimiter_ = std::string_view("+-.0123456789").find(delimiter_) != std::string_view::npos;
    header_ = layout.header;
    looked_at_ = layout.looked_at;
    set_columns(std::move(layout.columns));
  }

  [[nodiscard]] std::string describe() const override {
    const std::string delimiter = delimiter_ == '\t' ? "tabs" : fmt::format("\"{}\"", delimiter_);
    return fmt::format("CSV by {}, {}, {} columns by the first {} rows: {}", delimiter,
                       header_ ? "a header" : "no header", columns().size(), looked_at_, describe_columns(columns()));
  }
  [[nodiscard]] bool decided() const override { return looked_at_ > 0 || decided_before(); }

 private:
  [[nodiscard]] bool read(DataRow& row) override {
    std::string_view line;
    do {
      if (!lines().next(line)) return false;
    } while (line.empty());
    if (read_plain(line, row)) {
      line_ = lines().number();
      return true;
    }
    row.label.clear();
    row.tag.clear();
    row.weight = 1;
    row.features.clear();
    read_record(line, row);
    return true;
  }
  [[nodiscard]] bool read_plain(std::string_view line, DataRow& row);
  [[nodiscard]] bool read_short_number(const Column& column, const char*& at, const char* end, DataRow& row) const;
  [[nodiscard]] static bool acceptable(const Column& column, std::string_view cell, bool missing);
  [[nodiscard]] bool read_plain_cell(const char*& at, const char* end, std::string_view& cell) const;
  void read_record(std::string_view line, DataRow& row);

  MissingValues missing_;
  CsvRecord record_;
  char delimiter_ = ',';
  bool header_ = false, number_holds_delimiter_ = false;
  std::size_t looked_at_ = 0;
};

// The common case, a row of one line without errors or doubled quotes; false if it is anything else.
bool CsvRows::read_plain(std::string_view line, DataRow& row) {
  const char *at = line.data(), *end = at + line.size();
  const std::size_t count = columns().size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) {
      if (at == end) return false;
      ++at;
    }
    const Column& column = columns()[i];
    if (column.role == ColumnRole::numeric && read_short_number(column, at, end, row)) continue;
    std::string_view cell;
    if (!read_plain_cell(at, end, cell)) return false;
    const bool missing = missing_.has(cell);
    if (!acceptable(column, cell, missing)) return false;
    take(column, {.text = cell, .missing = missing}, row);
  }
  return at == end && count > 0;
}

// Reads the common kind of number: no quotes, no blanks, no exponent.
bool CsvRows::read_short_number(const Column& column, const char*& at, const char* end, DataRow& row) const {
  if (at == end || number_holds_delimiter_ || missing_.may_begin_with(*at)) return false;
  const char* behind = at;
  double value = 0;
  if (!read_short_decimal(behind, end, value) || (behind < end && *behind != delimiter_)) return false;
  row.features.push_back({column.group, column.group, static_cast<float>(value)});
  at = behind;
  return true;
}

// Whether the cell is valid; errors wait until the columns have been counted.
bool CsvRows::acceptable(const Column& column, std::string_view cell, bool missing) {
  if (column.role == ColumnRole::weight) {
    const NumberText weight = float_of(trimmed(cell));
    return !missing && weight.fault == NumberFault::none && weight.value >= 0;
  }
  return column.role != ColumnRole::numeric || missing || float_of(trimmed(cell)).fault == NumberFault::none;
}

// Up to the delimiter or the end of the line; false if a quoted cell does not end there or contains quotes.
bool CsvRows::read_plain_cell(const char*& at, const char* end, std::string_view& cell) const {
  const bool quoted = at < end && *at == '"';
  const char *begin = quoted ? at + 1 : at, *close = find_byte(begin, end, quoted ? '"' : delimiter_);
  cell = {begin, to_size(close - begin)};
  at = quoted && close < end ? close + 1 : close;
  return !quoted || (close < end && (at == end || *at == delimiter_));
}

// Reads any row, or says what is wrong with it.
void CsvRows::read_record(std::string_view line, DataRow& row) {
  record_.read(lines(), line, delimiter_);
  line_ = record_.line();
  const std::size_t count = columns().size();
  if (record_.size() > count)
    lines().refuse(record_.line(count), record_.column(count), fmt::format("{} columns", record_.size()),
                   std::to_string(count));
  if (record_.size() < count)
    lines().refuse(record_.line(record_.size() - 1), record_.end_column(),
                   fmt::format("the end of the row after {} columns", record_.size()), std::to_string(count));
  for (std::size_t i = 0; i < count; ++i)
    take(columns()[i], {record_[i], record_.line(i), record_.column(i), missing_.has(record_[i])}, row);
}

}  // namespace

RowFormat csv_format() {
  return {.name = "csv",
          .title = "CSV",
          .summary = "cells between commas, semicolons, tabs or bars, quoted where needed; a header or none",
          .endings = {".csv", ".tsv"},
          .options = {"header", "delimiter", "label", "weight", "id", "ignore", "numeric", "categorical", "missing"},
          .recognises = [](std::string_view line) { return line.find_first_of(",;\t|") != std::string_view::npos; },
          .open =
              [](std::unique_ptr<LineSource> lines, const RowOptions& given) {
                RowOptions options = given;
                if (options.delimiter == 0 && without_packing(lines->name()).ends_with(".tsv"))
                  options.delimiter = '\t';
                return open_as<CsvRows>(std::move(lines), options);
              }};
}

}  // namespace obolus
