// A fold over the last n rows: a ring of them, and a fold from which the oldest is removed as the newest is added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// The fold has a Row with packed() and unpacked(), add, remove, clear and fields; it may be inexact in remove(),
// because it is rebuilt from the rows whenever the ring wraps, at the cost of one more add() per row. So its
// sums carry the rounding of at most n additions and n removals, however long the stream.
template <class Fold>
class SlidingWindow {
  using Row = typename Fold::Row;

 public:
  explicit SlidingWindow(std::int64_t rows) : rows_(rows) {
    if (rows < 1) throw ConfigError("window: got " + std::to_string(rows) + " rows, expected at least 1");
    ring_ = Vector<double>::Zero(static_cast<Index>(rows) * Row::numbers);
  }

  void add(const Row& row) {
    fold_.add(row);  // throws before anything changes
    if (filled_ == rows_) fold_.remove(at(next_));
    else ++filled_;
    std::ranges::copy(row.packed(), ring_.data() + next_ * Row::numbers);
    next_ = (next_ + 1) % rows_;
    if (next_ != 0) return;
    fold_.clear();
    for (std::int64_t i = 0; i < rows_; ++i) fold_.add(at(i));
  }

  [[nodiscard]] const Fold& metrics() const { return fold_; }
  [[nodiscard]] std::int64_t size() const { return rows_; }      // n
  [[nodiscard]] std::int64_t filled() const { return filled_; }  // rows in it

  // The rows in it, oldest first.
  template <class Visit>
  void each(Visit&& visit) const {
    const std::int64_t oldest = filled_ == rows_ ? next_ : 0;
    for (std::int64_t i = 0; i < filled_; ++i) visit(at((oldest + i) % rows_));
  }

  void fields(Archive& a) {
    a("filled", filled_);
    a("next", next_);
    a("ring", ring_);
    a("fold", fold_);
    if (filled_ < 0 || filled_ > rows_ || next_ < 0 || next_ >= rows_)
      throw DataError("saved state: a window of " + std::to_string(rows_) + " rows has a place outside of it");
  }

 private:
  [[nodiscard]] Row at(std::int64_t i) const {
    return Row::unpacked(std::span<const double, Row::numbers>(ring_.data() + i * Row::numbers, Row::numbers));
  }

  std::int64_t rows_, filled_ = 0, next_ = 0;
  Vector<double> ring_;
  Fold fold_;
};

}  // namespace obolus
