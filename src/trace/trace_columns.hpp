// The rows of a run in columns, growing and thinned as it grows: what plots, reports and the live view show.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/run/profile.hpp"
#include "trace/thinning.hpp"
#include "trace/trace_row.hpp"

namespace obolus {

class TraceColumns {
 public:
  static constexpr std::size_t max_names = 1000;  // more are refused

  // Numbers by row, NaN where nothing was measured. Columns may be shorter than the rows.
  struct Column {
    std::string name;
    std::vector<double> values;
    std::optional<std::size_t> block, bin;  // of the last number

    [[nodiscard]] double at(std::size_t row) const {
      return row < values.size() ? values[row] : std::numeric_limits<double>::quiet_NaN();
    }
    // Whether any of its numbers was finite.
    [[nodiscard]] bool measured() const { return block.has_value(); }
  };

  // Throws DataError for too many names.
  void append(const TraceRow& row);
  // Drops a quarter of the rows or more, by making blocks or bins coarser. The first and the last row stay.
  void thin();

  [[nodiscard]] std::size_t rows() const { return t().size(); }
  [[nodiscard]] const std::vector<double>& t() const { return numbers_.front().values; }
  [[nodiscard]] const std::vector<Column>& numbers() const { return numbers_; }  // t is the first
  [[nodiscard]] const std::vector<Column>& evaluation() const { return evaluation_; }
  [[nodiscard]] const Column* find(std::string_view name) const;  // among numbers()
  [[nodiscard]] std::size_t size() const;                         // numbers held in all

  // Hyperparameters, in the rows that have them.
  [[nodiscard]] std::vector<Profile> profiles() const;
  [[nodiscard]] bool profiles_are_quantiles() const { return quantiles_; }

  // The newest alarms, at most a thousand; rows that were thinned away among them.
  struct Alarm {
    Round t = 0;
    std::string by;
  };
  static constexpr std::size_t max_alarms = 1000;
  [[nodiscard]] const std::deque<Alarm>& alarms() const { return alarms_; }

  // Rows of at most `max` numbers of a column, spaced for the axis, the first and the last included.
  [[nodiscard]] std::vector<std::size_t> spaced(const Column& column, RoundAxis axis, std::size_t max) const;

 private:
  void put(std::vector<Column>& columns, std::size_t& place, std::string_view name, double value);
  void set(Column& column, double value);
  void note_interval(Column& column);
  void append_x(const TraceRow::Hyperparameters& x);
  void drop_last();
  bool coarsen();
  void drop_unneeded();
  // Rows of the column's first number in every block or bin.
  [[nodiscard]] std::vector<std::size_t> firsts(const Column& column, RoundAxis axis) const;
  template <class Visit>
  void for_each_column(const Visit& visit);

  std::vector<Column> numbers_{Column{"t", {}, {}, {}}}, evaluation_, x_;
  std::vector<std::size_t> ordinals_;           // of the rows held, among all
  std::size_t seen_ = 0, block_ = 0, bin_ = 0;  // rows so far; those of the last one
  std::deque<Alarm> alarms_;
  Thinning thinning_;
  Index x_size_ = 0;
  bool quantiles_ = false;
  bool last_needed_ = true;  // the last row stays when others follow
};

// Of a file trace.jsonl: at most `max_rows` rows. Throws DataError naming file and line.
[[nodiscard]] TraceColumns read_trace(const std::string& path, std::size_t max_rows = 20'000);

}  // namespace obolus
