// A batch by rows and by columns, for several steps on it.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/softmax/kernels.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/data/sparse_rows.hpp"
#include "obolus/problems/softmax_pools.hpp"

namespace obolus {

class SoftmaxBatch {
 public:
  // Memory for any `rows` different rows of the data, which must outlive it: building them allocates nothing. The first
  // `common` features are those that nearly every batch has (see common_features). They determine the order of sums, so
  // they should follow from data and options alone, not from the batches seen so far.
  SoftmaxBatch(const SparseRows& data, Index rows, std::size_t common);

  // For several steps, in two parts that may run at different times. Features of one document are single, or like all
  // others.
  void build(const RoundRows& rows) {
    count(rows);
    sort(rows);
  }
  void count(const RoundRows& now, bool singles = true);
  void sort(const RoundRows& now);
  // For a single step.
  void build_once(const RoundRows& now);

  [[nodiscard]] kernels::softmax::BatchView view() const;

 private:
  template <class T>
  using List = std::vector<T, LineAllocator<T>>;
  struct Span {
    std::size_t first, last;
  };
  [[nodiscard]] Span common(std::int32_t row) const;  // a row's entries of common features, and the others
  [[nodiscard]] Span rare(std::int32_t row) const;
  [[nodiscard]] std::size_t rare_start(std::int32_t row) const {
    const auto i = to_size(row);
    return to_size(common_ > 0 ? rare_start_[i] : data_->start[i]);
  }
  void reserve(std::size_t rows, std::size_t entries);
  void prepare(const RoundRows& now);
  void call_for(const RoundRows& now, std::size_t r) const;
  void number(std::uint32_t min_documents);
  void split_columns();

  const SparseRows* data_;
  std::size_t common_;
  List<std::int64_t> rare_start_;  // by row; empty if no feature is common: the data may change then
  List<std::uint32_t> seen_;       // documents of each feature, then numbers of the rare ones; 0 if the batch has none
  List<std::int32_t> met_;         // the rare features of the batch
  List<std::int32_t> of_length_;   // how many columns of each length there are, then the place of the next
  List<std::int64_t> common_start_, common_end_;
  List<std::int32_t> common_index_;
  List<float> common_value_;
  List<std::int32_t> label_, single_start_, row_start_, multi_feature_;
  List<std::int32_t> column_owner_, column_start_, next_;  // next_: by owner, where the next entry goes
  List<kernels::softmax::ColumnPart> inner_column_;
  List<kernels::softmax::Entry> single_, row_, column_;
  std::size_t multi_ = 0, met_count_ = 0;
  int rows_ = 0, inner_ = 0;
  bool by_columns_ = true;
};

// How many leading features occur twice or more in `rows` documents on average. Data whose features are numbered by
// frequency have many, other data may have none.
[[nodiscard]] std::size_t common_features(const SparseRows& data, Index rows);

// The entries of the `rows` longest rows: no batch has more.
[[nodiscard]] Index max_batch_entries(const SparseRows& data, Index rows);

}  // namespace obolus
