#include "trace/trace_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "obolus/core/error.hpp"
#include "trace/trace_reader.hpp"

namespace obolus {
namespace {

template <class T>
void keep_only(std::vector<T>& values, const std::vector<bool>& kept) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kept[i]) values[to++] = values[i];
  values.resize(to);
}

}  // namespace

template <class Visit>
void TraceColumns::for_each_column(const Visit& visit) {
  for (auto* columns : {&numbers_, &evaluation_, &x_})
    for (Column& c : *columns) visit(c);
}

void TraceColumns::append(const TraceRow& row) {
  if (!last_needed_) drop_last();
  block_ = thinning_.interval(RoundAxis::linear, seen_, row.t);
  bin_ = thinning_.interval(RoundAxis::logarithmic, seen_, row.t);
  ordinals_.push_back(seen_++);
  numbers_.front().values.push_back(static_cast<double>(row.t));
  last_needed_ = false;
  note_interval(numbers_.front());
  std::size_t number = 1, evaluation = 0;
  for (const TraceRow::Number& n : row.numbers)
    if (n.evaluation) put(evaluation_, evaluation, n.name, n.value);
    else put(numbers_, number, n.name, n.value);
  if (row.x) append_x(*row.x);
  if (row.alarm.empty()) return;
  if (alarms_.size() == max_alarms) alarms_.pop_front();
  alarms_.push_back({row.t, row.alarm});
}

// Rows name the same numbers in the same order: the column is most often the one at `place`, which moves on.
void TraceColumns::put(std::vector<Column>& columns, std::size_t& place, std::string_view name, double value) {
  if (place >= columns.size() || columns[place].name != name) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
    place = to_size(found - columns.begin());
    if (found == columns.end()) {
      if (numbers_.size() + evaluation_.size() > max_names)
        throw DataError(fmt::format("got more than {} names of numbers, expected at most so many", max_names));
      columns.push_back({std::string(name), {}, {}, {}});
    }
  }
  set(columns[place++], value);
}

// In the last row; of a name that the row has twice, the first number counts.
void TraceColumns::set(Column& c, double value) {
  if (c.values.size() == rows()) return;
  c.values.resize(rows() - 1, std::numeric_limits<double>::quiet_NaN());
  c.values.push_back(value);
  if (std::isfinite(value)) note_interval(c);
}

// The column has a number in the last row, which is needed if it is the first of its block or bin.
void TraceColumns::note_interval(Column& c) {
  last_needed_ = last_needed_ || c.block != block_ || c.bin != bin_;
  c.block = block_;
  c.bin = bin_;
}

void TraceColumns::append_x(const TraceRow::Hyperparameters& x) {
  if (x_.empty()) {
    x_.resize(x.numbers.size());
    x_size_ = x.size;
    quantiles_ = x.quantiles;
  }
  if (x_.size() != x.numbers.size()) return;
  for (std::size_t i = 0; i < x_.size(); ++i) set(x_[i], x.numbers[i]);
}

void TraceColumns::drop_last() {
  const std::size_t last = rows() - 1;
  for_each_column([&](Column& c) {
    if (c.values.size() > last) c.values.pop_back();
  });
  ordinals_.pop_back();
}

void TraceColumns::thin() {
  const std::size_t target = rows() * 3 / 4;
  while (rows() > target && coarsen()) drop_unneeded();
}

// The axis that keeps more rows; false if neither can be made coarser.
bool TraceColumns::coarsen() {
  const std::size_t blocks = firsts(numbers_.front(), RoundAxis::linear).size();
  const std::size_t bins = firsts(numbers_.front(), RoundAxis::logarithmic).size();
  if (blocks <= 1 && bins <= 1) return false;
  const RoundAxis axis = blocks >= bins ? RoundAxis::linear : RoundAxis::logarithmic;
  thinning_.coarsen(axis);
  for_each_column([&](Column& c) {
    std::optional<std::size_t>& last = axis == RoundAxis::linear ? c.block : c.bin;
    if (last) *last /= 2;
  });
  return true;
}

void TraceColumns::drop_unneeded() {
  std::vector<bool> kept(rows());
  for_each_column([&](const Column& c) {
    for (const RoundAxis axis : {RoundAxis::linear, RoundAxis::logarithmic})
      for (const std::size_t row : firsts(c, axis)) kept[row] = true;
  });
  last_needed_ = kept.back();
  kept.back() = true;
  for_each_column([&](Column& c) { keep_only(c.values, kept); });
  keep_only(ordinals_, kept);
}

// The first of a coarser block is the first of a finer one, so none of those sought was dropped before.
std::vector<std::size_t> TraceColumns::firsts(const Column& c, RoundAxis axis) const {
  std::vector<std::size_t> rows;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    if (!std::isfinite(c.values[i])) continue;
    const std::size_t interval = thinning_.interval(axis, ordinals_[i], static_cast<Round>(t()[i]));
    if (last != interval) rows.push_back(i);
    last = interval;
  }
  return rows;
}

const TraceColumns::Column* TraceColumns::find(std::string_view name) const {
  const auto found = std::find_if(numbers_.begin(), numbers_.end(), [&](const Column& c) { return c.name == name; });
  return found == numbers_.end() ? nullptr : &*found;
}

std::size_t TraceColumns::size() const {
  std::size_t total = 0;
  for (const auto* columns : {&numbers_, &evaluation_, &x_})
    for (const Column& c : *columns) total += c.values.size();
  return total;
}

std::vector<Profile> TraceColumns::profiles() const {
  std::vector<Profile> profiles;
  for (std::size_t row = 0; row < rows(); ++row) {
    Profile p{static_cast<Round>(t()[row]), x_size_, {}};
    for (const Column& c : x_) p.numbers.push_back(c.at(row));
    if (std::any_of(p.numbers.begin(), p.numbers.end(), [](double v) { return std::isfinite(v); }))
      profiles.push_back(std::move(p));
  }
  return profiles;
}

std::vector<std::size_t> TraceColumns::spaced(const Column& c, RoundAxis axis, std::size_t max) const {
  std::vector<std::size_t> rows = firsts(c, axis);
  while (rows.size() >= max) {  // one place is the last number's
    for (std::size_t i = 1; 2 * i < rows.size(); ++i) rows[i] = rows[2 * i];
    rows.resize((rows.size() + 1) / 2);
  }
  for (std::size_t i = c.values.size(); i-- > 0;)
    if (std::isfinite(c.values[i])) {
      if (rows.empty() || rows.back() != i) rows.push_back(i);
      break;
    }
  return rows;
}

TraceColumns read_trace(const std::string& path, std::size_t max_rows) {
  TraceColumns columns;
  TraceReader reader(path);
  for (TraceRow row; reader.next(row);) try {
      columns.append(row);
      if (columns.rows() > max_rows) columns.thin();
    } catch (const DataError& e) {
      throw DataError(fmt::format("{}: {}", reader.place(), e.what()));
    }
  return columns;
}

}  // namespace obolus
