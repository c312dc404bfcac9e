#include "fit/learner/batch_features.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
void BatchFeatures<S>::take(const RowPointers& rows, Weights<S>& weights, double seen, double power) {
  rows_ = static_cast<int>(rows.size());
  local_of_.resize(to_size(weights.slots()), -1);
  count(rows);
  scale_.resize(slot_.size());
  for (std::size_t i = 0; i < slot_.size(); ++i) {
    const S mean = weights.squares(slot_[i]) / S(seen);
    scale_[i] = !(mean > S(0)) ? S(0)
                : power == 0.5 ? S(1) / std::sqrt(mean)
                               : S(std::pow(static_cast<double>(mean), -power));
  }
  list(rows);
  for (const std::int32_t slot : slot_) local_of_[to_size(slot)] = -1;
}

// Numbers the features, and leaves in end_ where each one's column begins.
template <class S>
void BatchFeatures<S>::count(const RowPointers& rows) {
  slot_.clear();
  end_.clear();
  for (const LearnerRow* row : rows)
    for (const Entry& e : row->entries) {
      std::int32_t& local = local_of_[to_size(e.slot)];
      if (local < 0) {
        local = static_cast<std::int32_t>(slot_.size());
        slot_.push_back(e.slot);
        end_.push_back(0);
      }
      ++end_[to_size(local)];
    }
  std::int32_t start = 0;
  for (std::int32_t& n : end_) start += std::exchange(n, start);
  column_.resize(to_size(start));
}

template <class S>
void BatchFeatures<S>::list(const RowPointers& rows) {
  entry_scale_.resize(std::max(entry_scale_.size(), rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    entry_scale_[r].clear();
    for (const Entry& e : rows[r]->entries) {
      const auto local = to_size(local_of_[to_size(e.slot)]);
      column_[to_size(end_[local]++)] = {static_cast<std::int32_t>(r), e.value};
      entry_scale_[r].push_back(scale_[local]);
    }
  }
}

template <class S>
void BatchFeatures<S>::compute_gram(int stride) {
  stride_ = stride;
  const auto n = to_size(stride);
  gram_.assign(n * n, S(1));
  dense_.assign(n, S(0));
  std::int32_t first = 0;
  for (std::size_t i = 0; i < slot_.size(); ++i) {
    kernels_->gram(column_.data() + first, end_[i] - first, scale_[i], dense_.data(), gram_.data(), stride);
    first = end_[i];
  }
}

template <class S>
double BatchFeatures<S>::bound(const S* weight) const {
  double max = 0;
  for (int r = 0; r < rows_; ++r) {
    const S* row = gram_.data() + to_size(r) * to_size(stride_);
    S sum = S(0);
    for (int k = 0; k < rows_; ++k) sum += std::abs(row[k]) * weight[k];
    max = std::max(max, static_cast<double>(sum));
  }
  return max;
}

template class BatchFeatures<float>;
template class BatchFeatures<double>;

}  // namespace obolus::fit
