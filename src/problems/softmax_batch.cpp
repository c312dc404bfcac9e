#include "problems/softmax_batch.hpp"

#include <algorithm>
#include <numeric>

#include "obolus/core/to_size.hpp"

namespace obolus {

Index max_batch_entries(const SparseRows& data, Index rows) {
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i + 1 < data.start.size(); ++i) lengths.push_back(data.start[i + 1] - data.start[i]);
  std::sort(lengths.rbegin(), lengths.rend());
  std::int64_t sum = 0;
  // Rows may repeat: beyond the data, the longest counts.
  for (Index r = 0; r < rows && !lengths.empty(); ++r)
    sum += r < static_cast<Index>(lengths.size()) ? lengths[to_size(r)] : lengths.front();
  return static_cast<Index>(sum);
}

namespace {

using kernels::softmax::ahead;
using kernels::softmax::Entry;
using kernels::softmax::side_by_side;

constexpr std::uint32_t placed = 0x8000'0000u;

std::size_t at(std::int32_t i) { return to_size(i); }

}  // namespace

std::size_t common_features(const SparseRows& data, Index rows) {
  if (data.rows() == 0) return 0;
  std::vector<std::int64_t> documents(to_size(data.columns));
  for (const std::int32_t f : data.column) ++documents[at(f)];
  const auto rare =
      std::find_if(documents.begin(), documents.end(), [&](std::int64_t n) { return n * rows < 2 * data.rows(); });
  return to_size(rare - documents.begin());
}

SoftmaxBatch::SoftmaxBatch(const SparseRows& data, Index rows, std::size_t common)
    : data_(&data), common_(common), seen_(to_size(data.columns), 0), met_(to_size(data.columns) + 1) {
  for (std::size_t r = 0; common_ > 0 && r + 1 < data.start.size(); ++r) {
    const auto columns = data.column.begin();
    rare_start_.push_back(
        std::lower_bound(columns + data.start[r], columns + data.start[r + 1], static_cast<std::int32_t>(common_)) -
        columns);
  }
  reserve(to_size(rows), to_size(max_batch_entries(data, rows)));
}

SoftmaxBatch::Span SoftmaxBatch::common(std::int32_t row) const {
  return {to_size(data_->start[at(row)]), rare_start(row)};
}
SoftmaxBatch::Span SoftmaxBatch::rare(std::int32_t row) const {
  return {rare_start(row), to_size(data_->start[at(row) + 1])};
}

void SoftmaxBatch::reserve(std::size_t rows, std::size_t entries) {
  const std::size_t several = std::min(seen_.size(), common_ + entries) + ahead;
  entries += ahead;
  label_.resize(rows);
  of_length_.reserve(rows + 2);
  common_start_.resize(rows);
  common_end_.resize(rows);
  single_start_.resize(rows + 1);
  row_start_.resize(rows + 1);
  single_.resize(several);
  row_.resize(entries);
  column_.resize(entries);
  common_index_.resize(entries + side_by_side * rows);
  common_value_.resize(entries + side_by_side * rows);
  multi_feature_.resize(several);
  column_owner_.resize(several);
  column_start_.resize(several + 1);
  inner_column_.resize(several);
  next_.resize(several + 1);
  std::iota(multi_feature_.begin(), multi_feature_.begin() + static_cast<std::ptrdiff_t>(common_), 0);
}

// Forgets the batch before. Only more rows than expected, or repeated ones, need more memory than the constructor
// reserved.
void SoftmaxBatch::prepare(const RoundRows& now) {
  std::fill_n(seen_.begin(), common_, 0);
  for (std::size_t i = 0; i < met_count_; ++i) seen_[at(met_[i])] = 0;
  std::size_t entries = 0;
  for (const std::int32_t row : now.row) entries += rare(row).last - common(row).first;
  if (now.row.size() > label_.size())
    reserve(now.row.size(), std::max(entries, to_size(max_batch_entries(*data_, now.size()))));
  else if (entries + ahead > row_.size()) reserve(label_.size(), entries);
  rows_ = static_cast<int>(now.size());
  inner_ = static_cast<int>(now.inner);
  std::copy(now.label.begin(), now.label.end(), label_.begin());
}

// Rows of the data come in no order: their entries are prefetched while those of the rows before are read.
void SoftmaxBatch::call_for(const RoundRows& now, std::size_t r) const {
  if (r >= now.row.size()) return;
  for (std::size_t k = common(now.row[r]).first; k < rare(now.row[r]).last; k += 16) {
    __builtin_prefetch(&data_->column[k]);
    __builtin_prefetch(&data_->value[k]);
  }
}

void SoftmaxBatch::count(const RoundRows& now, bool singles) {
  prepare(now);
  by_columns_ = true;
  std::int32_t* met = met_.data();
  for (std::size_t r = 0; r < now.row.size(); ++r) {
    call_for(now, r + 2);
    const Span often = common(now.row[r]), seldom = rare(now.row[r]);
    for (std::size_t k = often.first; k < often.last; ++k) ++seen_[at(data_->column[k])];
    for (std::size_t k = seldom.first; k < seldom.last; ++k) {
      const std::int32_t f = data_->column[k];
      *met = f;  // kept when it is the first of its documents
      met += seen_[at(f)]++ == 0 ? 1 : 0;
    }
  }
  met_count_ = to_size(met - met_.data());
  number(singles ? 2 : 1);
}

// Numbers for rare features of so many documents, and a place for every column. From here on seen_ is 1 for a single
// feature, the number (and `placed`) of another rare one, and still the documents of a common one.
void SoftmaxBatch::number(std::uint32_t min_documents) {
  multi_ = common_;
  for (std::size_t i = 0; i < met_count_; ++i) {
    multi_feature_[multi_] = met_[i];
    multi_ += seen_[at(met_[i])] >= min_documents ? 1 : 0;  // no branch: it could not be predicted
  }
  of_length_.assign(to_size(rows_) + 2, 0);
  const auto length = [&](std::size_t l) { return seen_[at(multi_feature_[l])]; };
  for (std::size_t l = 0; l < multi_; ++l) ++of_length_[length(l) + 1];
  std::int32_t place = 0, start = 0;
  for (std::size_t n = 0; n + 1 < of_length_.size(); ++n) {
    const std::int32_t here = of_length_[n + 1];
    of_length_[n] = place;
    for (std::int32_t k = 0; k < here; ++k, start += static_cast<std::int32_t>(n)) column_start_[at(place++)] = start;
  }
  column_start_[multi_] = next_[multi_] = start;
  for (std::size_t l = 0; l < multi_; ++l) {
    const std::int32_t i = of_length_[length(l)]++;
    column_owner_[at(i)] = static_cast<std::int32_t>(l);
    next_[l] = column_start_[at(i)];
  }
  for (std::size_t l = common_; l < multi_; ++l) seen_[at(multi_feature_[l])] = placed | static_cast<std::uint32_t>(l);
}

// Called when the entries of g's rows are placed, and no others.
void SoftmaxBatch::split_columns() {
  of_length_.assign(to_size(rows_) + 2, 0);
  const auto length = [&](std::size_t i) { return at(next_[at(column_owner_[i])] - column_start_[i]); };
  for (std::size_t i = 0; i < multi_; ++i) ++of_length_[length(i) + 1];
  std::partial_sum(of_length_.begin(), of_length_.end(), of_length_.begin());
  for (std::size_t i = 0; i < multi_; ++i) {
    const std::int32_t owner = column_owner_[i];
    inner_column_[at(of_length_[length(i)]++)] = {owner, column_start_[i], next_[at(owner)]};
  }
}

void SoftmaxBatch::sort(const RoundRows& now) {
  Entry *single = single_.data(), *column = column_.data();
  std::int32_t* next = next_.data();
  std::size_t copied = 0;
  std::fill_n(row_start_.begin(), now.row.size() + 1, 0);
  const std::size_t no_column = multi_;  // where entries of single features would go
  for (std::size_t r = 0; r < now.row.size(); ++r) {
    call_for(now, r + 2);
    const auto number = static_cast<std::int32_t>(r);
    if (number == inner_) split_columns();
    single_start_[r] = static_cast<std::int32_t>(single - single_.data());
    const Span often = common(now.row[r]), seldom = rare(now.row[r]);
    // Stores retire in order: without a prefetch each waits for the cache line of its column, 2 % of a round.
    for (std::size_t k = often.first; k < often.last; ++k) {
      __builtin_prefetch(column + next[data_->column[std::min(k + ahead, often.last - 1)]], 1);
      column[next[data_->column[k]]++] = {number, data_->value[k]};
    }
    // Read in every step, hence copied to lie side by side.
    std::copy_n(data_->column.data() + often.first, often.last - often.first, common_index_.data() + copied);
    std::copy_n(data_->value.data() + often.first, often.last - often.first, common_value_.data() + copied);
    common_start_[r] = static_cast<std::int64_t>(copied);
    copied += often.last - often.first;
    for (std::size_t k = seldom.first; k < seldom.last; ++k) {
      const std::int32_t f = data_->column[k];
      const std::uint32_t seen = seen_[at(f)];
      const bool once = seen == 1;
      const std::size_t l = once ? no_column : seen & ~placed;
      *single = {f, data_->value[k]};
      common_index_[copied] = static_cast<std::int32_t>(l);
      common_value_[copied] = data_->value[k];
      column[next[l]] = {number, data_->value[k]};
      single += once ? 1 : 0;
      copied += once ? 0 : 1;
      next[l] += once ? 0 : 1;
    }
    for (std::size_t k = 0; k + 1 < side_by_side; ++k) {
      common_index_[copied + k] = 0;
      common_value_[copied + k] = 0;
    }
    copied = (copied + side_by_side - 1) / side_by_side * side_by_side;
    common_end_[r] = static_cast<std::int64_t>(copied);
  }
  if (inner_ >= rows_) split_columns();
  single_start_[now.row.size()] = static_cast<std::int32_t>(single - single_.data());
}

void SoftmaxBatch::build_once(const RoundRows& now) {
  prepare(now);
  by_columns_ = false;
  multi_ = common_;
  Entry* entry = row_.data();
  std::fill_n(single_start_.begin(), now.row.size() + 1, 0);
  for (std::size_t r = 0; r < now.row.size(); ++r) {
    call_for(now, r + 2);
    row_start_[r] = static_cast<std::int32_t>(entry - row_.data());
    const Span often = common(now.row[r]), seldom = rare(now.row[r]);
    common_start_[r] = static_cast<std::int64_t>(often.first);
    common_end_[r] = static_cast<std::int64_t>(often.last);
    for (std::size_t k = seldom.first; k < seldom.last; ++k) {
      const std::int32_t f = data_->column[k];
      std::uint32_t& seen = seen_[at(f)];
      multi_feature_[multi_] = f;  // kept when it is the first of its documents
      const std::uint32_t number = seen == 0 ? placed | static_cast<std::uint32_t>(multi_) : seen;
      multi_ += seen == 0 ? 1 : 0;
      seen = number;
      *entry++ = {static_cast<std::int32_t>(number & ~placed), data_->value[k]};
    }
  }
  row_start_[now.row.size()] = static_cast<std::int32_t>(entry - row_.data());
  met_count_ = multi_ - common_;
  std::copy_n(multi_feature_.begin() + static_cast<std::ptrdiff_t>(common_), met_count_, met_.begin());
}

kernels::softmax::BatchView SoftmaxBatch::view() const {
  return {rows_,
          inner_,
          static_cast<int>(multi_),
          static_cast<int>(multi_feature_.size() - ahead),
          by_columns_,
          label_.data(),
          common_start_.data(),
          common_end_.data(),
          by_columns_ ? common_index_.data() : data_->column.data(),
          by_columns_ ? common_value_.data() : data_->value.data(),
          single_start_.data(),
          single_.data(),
          row_start_.data(),
          row_.data(),
          multi_feature_.data(),
          column_owner_.data(),
          column_start_.data(),
          inner_column_.data(),
          column_.data()};
}

}  // namespace obolus
