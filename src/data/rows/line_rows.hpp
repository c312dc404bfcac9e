// What the readers share: lines, counting of bad rows, numbers with their place in errors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/rows/bad_rows.hpp"
#include "data/rows/line_source.hpp"
#include "data/rows/row_format.hpp"
#include "data/rows/words.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {

class LineRows : public RowReader {
 public:
  LineRows(std::unique_ptr<LineSource> lines, const RowOptions& options)
      : lines_(std::move(lines)), bad_(options.skip_bad) {}

  [[nodiscard]] bool next(DataRow& row) final;
  [[nodiscard]] std::string place() const final;
  [[nodiscard]] const std::vector<std::string>& groups() const override { return groups_; }
  [[nodiscard]] std::uint64_t skipped() const final { return bad_.count(); }
  [[nodiscard]] const std::string& first_skipped() const final { return bad_.first(); }

  void set_format(const RowFormat& format) { format_ = &format; }  // by its opener, before anything else
  [[nodiscard]] const RowFormat& format() const { return *format_; }
  // Before the first row: takes over what was decided for the file before and the numbers of its groups. That reader is
  // at its end and reads no more. Throws DataError if the files do not fit together.
  void follow(LineRows& before);
  // Whether there were rows to decide what is automatic.
  [[nodiscard]] virtual bool decided() const { return true; }
  [[nodiscard]] const std::string& file() const { return lines_->name(); }
  [[nodiscard]] bool no_more() { return lines_->only_blanks(); }

 protected:
  // `row` is empty. Throws BadRow once the line is consumed.
  [[nodiscard]] virtual bool read(DataRow& row) = 0;
  [[nodiscard]] virtual bool can_follow(const LineRows& before) const { return &format() == &before.format(); }
  virtual void take_over(LineRows& before) = 0;  // which it can follow

  [[nodiscard]] LineSource& lines() { return *lines_; }
  // The next line becomes the row's place.
  [[nodiscard]] bool next_line(std::string_view& line);
  [[nodiscard]] float value_of(Word word) const;    // within float's range
  [[nodiscard]] double weight_of(Word word) const;  // 0 or more
  [[noreturn]] void refuse(std::size_t column, std::string_view got, std::string_view expected) const {
    lines_->refuse(line_, column, got, expected);
  }

  std::vector<std::string> groups_;
  std::size_t line_ = 0;  // where the row began

 private:
  const RowFormat* format_ = nullptr;
  std::unique_ptr<LineSource> lines_;
  BadRows bad_;
};

// What a format gives as its `open`.
template <class Rows>
std::unique_ptr<LineRows> open_as(std::unique_ptr<LineSource> lines, const RowOptions& options) {
  return std::make_unique<Rows>(std::move(lines), options);
}

}  // namespace obolus
