// The latest rows that were trained on, to be drawn again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fit/model/learner_row.hpp"
#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

class ReplayBuffer {
 public:
  explicit ReplayBuffer(std::int64_t capacity) : capacity_(capacity) {}

  // The inner rows of a round; the oldest rows make room for them.
  template <class Rows>
  void keep(Rows& rows) {
    newest_ = 0;
    for (LearnerRow& row : rows) {
      if (!row.serves(Role::inner) || capacity_ == 0) continue;
      newest_ = std::min(newest_ + 1, capacity_);
      if (static_cast<std::int64_t>(rows_.size()) < capacity_) rows_.push_back(std::move(row));
      else std::swap(rows_[to_size(next_)], row);
      next_ = (next_ + 1) % capacity_;
    }
  }

  void draw(Rng rng, std::int64_t count, RowPointers& to) const {
    if (rows_.empty()) return;
    for (std::int64_t i = 0; i < count; ++i) to.push_back(&rows_[to_size(rng.below(rows_.size()))]);
  }
  // The newest row, if the last round left any.
  [[nodiscard]] const LearnerRow* newest() const {
    if (newest_ == 0 || rows_.empty()) return nullptr;
    return &rows_[(to_size(next_) + rows_.size() - 1) % rows_.size()];
  }

  // The latest so many rows, the newest last.
  void latest(std::int64_t count, RowPointers& to) const {
    const auto all = static_cast<std::int64_t>(rows_.size());
    for (std::int64_t i = std::min(count, all); i > 0; --i) to.push_back(&rows_[to_size((next_ + all - i) % all)]);
  }
  [[nodiscard]] const LearnerRow* draw(Rng& rng) const {
    return rows_.empty() ? nullptr : &rows_[to_size(rng.below(rows_.size()))];
  }

  [[nodiscard]] const std::vector<LearnerRow>& rows() const { return rows_; }
  // A checkpoint has something else between the two.
  void row_fields(Archive& a, std::uint64_t max) {
    a("buffer_next", next_);
    saved_list(a, "buffer", rows_, max);
  }
  void newest_fields(Archive& a) { a("kept", newest_); }
  [[nodiscard]] bool is_sound() const { return newest_ >= 0 && next_ >= 0 && (next_ == 0 || next_ < capacity_); }

 private:
  std::int64_t capacity_;
  std::vector<LearnerRow> rows_;
  std::int64_t next_ = 0;
  std::int64_t newest_ = 0;  // how many of the last round stand before `next_`
};

}  // namespace obolus::fit
