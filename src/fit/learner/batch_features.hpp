// The features of a batch: the rows that have each of them, their scales P, and the Gram matrix G = X P X' of the
// batch.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/model/learner_row.hpp"
#include "fit/model/weights.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class BatchFeatures {
 public:
  BatchFeatures() : kernels_(&kernels::fit::table<S>()) {}

  // P_i = (Σ value_i²/seen)^−power. Memory is reused from batch to batch.
  void take(const RowPointers& rows, Weights<S>& weights, double seen, double power);

  // stride × stride; the constant feature adds 1 everywhere.
  void compute_gram(int stride);
  [[nodiscard]] const S* gram() const { return gram_.data(); }
  // max_r Σ_k weight_k |G_rk| over the batch's rows, a bound of the largest eigenvalue. After compute_gram().
  [[nodiscard]] double bound(const S* weight) const;
  // P of row r's entries.
  [[nodiscard]] const S* scales(int r) const { return entry_scale_[to_size(r)].data(); }

 private:
  void count(const RowPointers& rows);
  void list(const RowPointers& rows);

  int rows_ = 0, stride_ = 0;
  // By slot, a feature's number in the batch, −1 outside of take(); and by that number: its slot, where its column
  // ends, its scale.
  std::vector<std::int32_t> local_of_, slot_, end_;
  std::vector<S> scale_;
  std::vector<Entry> column_;  // row and value
  std::vector<std::vector<S>> entry_scale_;
  std::vector<S, LineAllocator<S>> gram_, dense_;
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class BatchFeatures<float>;
extern template class BatchFeatures<double>;

}  // namespace obolus::fit
