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
constexpr std::uint32_t placed = 0x8000'0000u;
}  // namespace

Batch::Batch(const SparseRows& data, Index rows) {
  seen_.assign(static_cast<std::size_t>(data.columns), 0);
  met_.assign(static_cast<std::size_t>(data.columns) + 1, 0);
  reserve(static_cast<std::size_t>(rows), static_cast<std::size_t>(most_entries(data, rows)));
}

void Batch::reserve(std::size_t rows, std::size_t entries) {
  const std::size_t several = std::min(seen_.size(), entries) + ahead;
  entries += ahead;
  label_.resize(rows), single_start_.resize(rows + 1), row_start_.resize(rows + 1);
  single_.resize(several), row_.resize(entries), column_.resize(entries);
  multi_feature_.resize(several), column_start_.resize(several + 1), column_inner_.resize(several);
  column_next_.resize(several), of_count_.reserve(rows + 1);
}

// Only more rows than before, or rows that come more than once, are beyond the room made at first.
void Batch::make_room(const SparseRows& data, const RoundRows& now) {
  std::size_t entries = 0;
  for (const std::int32_t row : now.row)
    entries += static_cast<std::size_t>(data.start[static_cast<std::size_t>(row) + 1] -
                                        data.start[static_cast<std::size_t>(row)]);
  if (now.row.size() > label_.size())
    reserve(now.row.size(), std::max(entries, static_cast<std::size_t>(most_entries(data, now.size()))));
  else if (entries + ahead > row_.size()) reserve(label_.size(), entries);
  rows_ = static_cast<int>(now.size()), inner_ = static_cast<int>(now.inner);
  std::copy(now.label.begin(), now.label.end(), label_.begin());
}

void Batch::build(const SparseRows& data, const RoundRows& now) {
  make_room(data, now);
  by_columns_ = true;
  std::int32_t* met = met_.data();
  for (const std::int32_t row : now.row) {
    const auto first = static_cast<std::size_t>(data.start[static_cast<std::size_t>(row)]);
    const auto last = static_cast<std::size_t>(data.start[static_cast<std::size_t>(row) + 1]);
    for (std::size_t k = first; k < last; ++k) {
      const std::int32_t f = data.column[k];
      *met = f;  // kept when it is the first of its documents
      met += seen_[static_cast<std::size_t>(f)]++ == 0 ? 1 : 0;
    }
  }
  const auto features = static_cast<std::size_t>(met - met_.data());
  number_features(features);
  sort_by_rows(data, now);
  sort_by_columns();
  for (std::size_t i = 0; i < features; ++i) seen_[static_cast<std::size_t>(met_[i])] = 0;
}

void Batch::build_once(const SparseRows& data, const RoundRows& now) {
  make_room(data, now);
  by_columns_ = false;
  std::uint32_t count = 0;
  Entry* entry = row_.data();
  std::fill_n(single_start_.begin(), now.row.size() + 1, 0);
  for (std::size_t r = 0; r < now.row.size(); ++r) {
    row_start_[r] = static_cast<std::int32_t>(entry - row_.data());
    const auto row = static_cast<std::size_t>(now.row[r]);
    for (auto k = static_cast<std::size_t>(data.start[row]); k < static_cast<std::size_t>(data.start[row + 1]); ++k) {
      const std::int32_t f = data.column[k];
      std::uint32_t& seen = seen_[static_cast<std::size_t>(f)];
      multi_feature_[count] = f;  // kept when it is the first of its documents
      const std::uint32_t number = seen == 0 ? count | placed : seen;
      count += seen == 0 ? 1 : 0;
      seen = number;
      *entry++ = {static_cast<std::int32_t>(number & ~placed), data.value[k]};
    }
  }
  row_start_[now.row.size()] = static_cast<std::int32_t>(entry - row_.data());
  multi_ = static_cast<int>(count);
  for (std::uint32_t l = 0; l < count; ++l) seen_[static_cast<std::size_t>(multi_feature_[l])] = 0;
}

// Features of several documents are numbered by how many they are: columns of one length stand together, and the processor
// foresees where they end.
void Batch::number_features(std::size_t features) {
  of_count_.assign(static_cast<std::size_t>(rows_) + 1, 0);
  for (std::size_t i = 0; i < features; ++i) ++of_count_[seen_[static_cast<std::size_t>(met_[i])]];
  multi_ = 0;
  std::int32_t start = 0;
  for (std::size_t count = 2; count < of_count_.size(); ++count) {
    const std::int32_t here = of_count_[count];
    of_count_[count] = multi_;
    for (std::int32_t n = 0; n < here; ++n, start += static_cast<std::int32_t>(count))
      column_start_[static_cast<std::size_t>(multi_++)] = start;
  }
  column_start_[static_cast<std::size_t>(multi_)] = start;
  std::copy_n(column_start_.begin(), multi_, column_next_.begin());
  for (std::size_t i = 0; i < features; ++i) {
    std::uint32_t& seen = seen_[static_cast<std::size_t>(met_[i])];
    if (seen == 1) continue;
    const std::int32_t l = of_count_[seen]++;
    multi_feature_[static_cast<std::size_t>(l)] = met_[i];
    seen = placed | static_cast<std::uint32_t>(l);
  }
}

void Batch::sort_by_rows(const SparseRows& data, const RoundRows& now) {
  Entry *single = single_.data(), *other = row_.data();
  for (std::size_t r = 0; r < now.row.size(); ++r) {
    const auto row = static_cast<std::size_t>(now.row[r]);
    single_start_[r] = static_cast<std::int32_t>(single - single_.data());
    row_start_[r] = static_cast<std::int32_t>(other - row_.data());
    for (auto k = static_cast<std::size_t>(data.start[row]); k < static_cast<std::size_t>(data.start[row + 1]); ++k) {
      const std::int32_t f = data.column[k];
      const std::uint32_t seen = seen_[static_cast<std::size_t>(f)];
      const bool once = seen == 1;  // no branch: nobody could foresee it
      *single = {f, data.value[k]};
      *other = {static_cast<std::int32_t>(seen & ~placed), data.value[k]};
      single += once ? 1 : 0;
      other += once ? 0 : 1;
    }
  }
  single_start_[now.row.size()] = static_cast<std::int32_t>(single - single_.data());
  row_start_[now.row.size()] = static_cast<std::int32_t>(other - row_.data());
}

void Batch::sort_by_columns() {
  for (int r = 0; r < rows_; ++r) {
    if (r == inner_) std::copy_n(column_next_.begin(), multi_, column_inner_.begin());
    for (std::int32_t q = row_start_[static_cast<std::size_t>(r)]; q < row_start_[static_cast<std::size_t>(r) + 1];
         ++q) {
      const Entry& e = row_[static_cast<std::size_t>(q)];
      column_[static_cast<std::size_t>(column_next_[static_cast<std::size_t>(e.index)]++)] = {r, e.value};
    }
  }
  if (inner_ >= rows_) std::copy_n(column_next_.begin(), multi_, column_inner_.begin());
}

BatchView Batch::view() const {
  return {rows_,
          inner_,
          multi_,
          static_cast<int>(multi_feature_.size() - ahead),
          by_columns_,
          label_.data(),
          single_start_.data(),
          single_.data(),
          row_start_.data(),
          row_.data(),
          multi_feature_.data(),
          column_start_.data(),
          column_inner_.data(),
          column_.data()};
}

}  // namespace obolus::kernels
