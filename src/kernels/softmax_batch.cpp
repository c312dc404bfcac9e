#include "kernels/softmax_batch.hpp"

#include <algorithm>

namespace obolus::kernels {

Index most_entries(const SparseRows& data, Index rows) {
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i + 1 < data.start.size(); ++i) lengths.push_back(data.start[i + 1] - data.start[i]);
  std::sort(lengths.rbegin(), lengths.rend());
  std::int64_t sum = 0;
  // Rows may come again: beyond the data the longest counts.
  for (Index r = 0; r < rows && !lengths.empty(); ++r)
    sum += r < static_cast<Index>(lengths.size()) ? lengths[static_cast<std::size_t>(r)] : lengths.front();
  return static_cast<Index>(sum);
}

namespace {
constexpr std::size_t ahead = 8;  // how far the kernels prefetch
}

Batch::Batch(const SparseRows& data, Index rows) {
  const auto features = static_cast<std::size_t>(data.columns);
  count_.assign(features, 0), local_.assign(features, 0);
  reserve(static_cast<std::size_t>(rows), static_cast<std::size_t>(most_entries(data, rows)));
}

void Batch::reserve(std::size_t rows, std::size_t entries) {
  const std::size_t several = std::min(count_.size(), entries) + ahead;
  entries += ahead;
  label_.resize(rows), single_start_.resize(rows + 1), row_start_.resize(rows + 1);
  single_feature_.resize(several), single_value_.resize(several);
  row_local_.resize(entries), row_value_.resize(entries), column_row_.resize(entries), column_value_.resize(entries);
  multi_feature_.resize(several), column_start_.resize(several + 1), column_inner_.resize(several);
  column_next_.resize(several);
}

void Batch::build(const SparseRows& data, const RoundRows& now) {
  constexpr std::uint32_t placed = 0x8000'0000u;
  rows_ = static_cast<int>(now.size()), inner_ = static_cast<int>(now.inner), multi_ = 0;
  const std::int32_t* column = data.column.data();
  std::size_t entries = 0;
  for (const std::int32_t row : now.row) {
    const std::int64_t first = data.start[static_cast<std::size_t>(row)], last = data.start[static_cast<std::size_t>(row) + 1];
    for (std::int64_t k = first; k < last; ++k) ++count_[static_cast<std::size_t>(column[k])];
    entries += static_cast<std::size_t>(last - first);
  }
  // Only rows that come more than once, or more rows than before, are beyond the room made at first.
  if (now.row.size() > label_.size() || entries + ahead > row_local_.size())
    reserve(std::max(now.row.size(), label_.size()), std::max(entries, row_local_.size() - ahead));
  std::int32_t singles = 0, others = 0;
  for (int r = 0; r < rows_; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const auto row = static_cast<std::size_t>(now.row[at]);
    label_[at] = now.label[at], single_start_[at] = singles, row_start_[at] = others;
    for (std::int64_t k = data.start[row]; k < data.start[row + 1]; ++k) {
      const auto f = static_cast<std::size_t>(column[k]);
      const std::uint32_t count = count_[f];
      if (count == 1) {
        single_feature_[static_cast<std::size_t>(singles)] = static_cast<std::int32_t>(f);
        single_value_[static_cast<std::size_t>(singles++)] = data.value[static_cast<std::size_t>(k)];
        continue;
      }
      if ((count & placed) == 0) {
        const auto l = static_cast<std::size_t>(multi_++);
        count_[f] = count | placed;
        local_[f] = static_cast<std::int32_t>(l);
        multi_feature_[l] = static_cast<std::int32_t>(f);
        column_next_[l] = column_start_[l];
        column_start_[l + 1] = column_start_[l] + static_cast<std::int32_t>(count);
      }
      row_local_[static_cast<std::size_t>(others)] = local_[f];
      row_value_[static_cast<std::size_t>(others++)] = data.value[static_cast<std::size_t>(k)];
    }
  }
  single_start_[static_cast<std::size_t>(rows_)] = singles, row_start_[static_cast<std::size_t>(rows_)] = others;
  for (int r = 0; r < rows_; ++r) {
    if (r == inner_) std::copy_n(column_next_.begin(), multi_, column_inner_.begin());
    for (std::int32_t q = row_start_[static_cast<std::size_t>(r)]; q < row_start_[static_cast<std::size_t>(r) + 1]; ++q) {
      const auto entry = static_cast<std::size_t>(q);
      const auto to = static_cast<std::size_t>(column_next_[static_cast<std::size_t>(row_local_[entry])]++);
      column_row_[to] = r;
      column_value_[to] = row_value_[entry];
    }
  }
  if (inner_ >= rows_) std::copy_n(column_next_.begin(), multi_, column_inner_.begin());
  for (std::int32_t i = 0; i < singles; ++i) count_[static_cast<std::size_t>(single_feature_[static_cast<std::size_t>(i)])] = 0;
  for (int l = 0; l < multi_; ++l) count_[static_cast<std::size_t>(multi_feature_[static_cast<std::size_t>(l)])] = 0;
}

BatchView Batch::view() const {
  return {rows_,
          inner_,
          multi_,
          label_.data(),
          single_start_.data(),
          single_feature_.data(),
          single_value_.data(),
          row_start_.data(),
          row_local_.data(),
          row_value_.data(),
          multi_feature_.data(),
          column_start_.data(),
          column_inner_.data(),
          column_row_.data(),
          column_value_.data()};
}

}  // namespace obolus::kernels
