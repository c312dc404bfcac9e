// The features of a batch: the rows that have each of them, their scales P, and with them the Gram matrix G = X P X' of the batch.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/rows.hpp"
#include "fit/weights.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class BatchFeatures {
 public:
  BatchFeatures() : kernels_(&kernels::fit::table<S>()) {}

  // P_i = (Σ value_i²/seen)^−power; memory is taken once for all batches alike.
  void take(const std::vector<const LearnerRow*>& rows, Weights<S>& weights, double seen, double power);

  // stride × stride; the constant feature has a part of 1 everywhere.
  const S* gram(int stride);
  // max_r Σ_k weight_k |G_rk| over the batch's rows, a bound of the largest eigenvalue. After gram().
  [[nodiscard]] double bound(const S* weight) const;
  // Of row r's entries.
  [[nodiscard]] const S* scales(int r) const { return entry_scale_[to_size(r)].data(); }

 private:
  void count(const std::vector<const LearnerRow*>& rows);
  void list(const std::vector<const LearnerRow*>& rows);

  int rows_ = 0, stride_ = 0;
  // A feature's number in the batch by slot, −1 outside of take(); and by that number: its slot, where its column ends, its scale.
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
