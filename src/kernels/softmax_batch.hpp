// A batch by rows and by columns, for steps that use it several times.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/softmax_kernels.hpp"
#include "obolus/data/sparse_rows.hpp"
#include "obolus/problems/softmax_pools.hpp"

namespace obolus::kernels {

class Batch {
 public:
  // Room for any `rows` different rows of the data: building them allocates nothing.
  Batch(const SparseRows& data, Index rows);

  // For several steps, or for one.
  void build(const SparseRows& data, const RoundRows& rows);
  void build_once(const SparseRows& data, const RoundRows& rows);

  [[nodiscard]] BatchView view() const;

 private:
  void reserve(std::size_t rows, std::size_t entries);
  void make_room(const SparseRows& data, const RoundRows& rows);
  void number_features(std::size_t features);
  void sort_by_rows(const SparseRows& data, const RoundRows& now);
  void sort_by_columns();

  std::vector<std::uint32_t> seen_;  // by feature: documents, or its number among those of several; 0 between builds
  std::vector<std::int32_t> met_, of_count_;  // features of the batch; of each count, where to number on
  std::vector<std::int32_t> label_, single_start_, row_start_, multi_feature_, column_start_, column_inner_,
      column_next_;
  std::vector<Entry> single_, row_, column_;
  int rows_ = 0, inner_ = 0, multi_ = 0;
  bool by_columns_ = true;
};

// The entries of the `rows` longest rows: no batch has more.
[[nodiscard]] Index most_entries(const SparseRows& data, Index rows);

}  // namespace obolus::kernels
