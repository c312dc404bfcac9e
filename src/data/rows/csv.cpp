#include <fmt/format.h>

#include "data/rows/csv_layout.hpp"
#include "data/rows/csv_record.hpp"

namespace obolus {
namespace {

class CsvRows : public ColumnRows {
 public:
  CsvRows(std::unique_ptr<LineSource> source, const RowOptions& options)
      : ColumnRows(std::move(source), options), missing_(options.missing) {
    CsvLayout layout = csv_layout(lines(), options, missing_);
    delimiter_ = layout.delimiter;
    header_ = layout.header;
    looked_at_ = layout.looked_at;
    set_columns(std::move(layout.columns));
  }

  [[nodiscard]] std::string describe() const override {
    const std::string delimiter = delimiter_ == '\t' ? "tabs" : fmt::format("\"{}\"", delimiter_);
    return fmt::format("CSV by {}, {}, {} columns by the first {} rows: {}", delimiter,
                       header_ ? "a header" : "no header", columns().size(), looked_at_, describe_columns(columns()));
  }

 private:
  [[nodiscard]] bool read(Row& row) override {
    if (!record_.next(lines(), delimiter_)) return false;
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
    return true;
  }

  MissingValues missing_;
  CsvRecord record_;
  char delimiter_ = ',';
  bool header_ = false;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> csv_rows(std::unique_ptr<LineSource> lines, const RowOptions& options) {
  return std::make_unique<CsvRows>(std::move(lines), options);
}

}  // namespace obolus
