// A batch by rows and by columns, for steps that use it several times.
#pragma once

#include <vector>

#include "kernels/softmax_kernels.hpp"
#include "obolus/data/sparse_rows.hpp"
#include "obolus/problems/softmax_pools.hpp"

namespace obolus::kernels {

class Batch {
 public:
  // Room for any `rows` different rows of the data: building them allocates nothing.
  Batch(const SparseRows& data, Index rows);

  void build(const SparseRows& data, const RoundRows& rows);

  [[nodiscard]] BatchView view() const;
  // Features of one document, then the others.
  [[nodiscard]] const std::vector<std::int32_t>& singles() const { return single_feature_; }
  [[nodiscard]] Index single_count() const { return single_start_[static_cast<std::size_t>(rows_)]; }

 private:
  void reserve(std::size_t rows, std::size_t entries);

  std::vector<std::uint32_t> count_;  // by feature, 0 between builds
  std::vector<std::int32_t> local_;   // by feature
  std::vector<std::int32_t> label_, single_start_, single_feature_, row_start_, row_local_;
  std::vector<std::int32_t> multi_feature_, column_start_, column_inner_, column_next_, column_row_;
  std::vector<float> single_value_, row_value_, column_value_;
  int rows_ = 0, inner_ = 0, multi_ = 0;
};

// The entries of the `rows` longest rows: no batch has more.
[[nodiscard]] Index most_entries(const SparseRows& data, Index rows);

}  // namespace obolus::kernels
