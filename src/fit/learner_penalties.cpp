// A learner whose features have penalties of their own.
#include <algorithm>
#include <cmath>

#include "fit/learner.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
void Learner<S>::move_penalties() {
  if (penalties_ && !residual_.empty()) move_touched();
  if (optimised_) ask_optimiser();
}

// −<z_i, ∇_i f>, the slope of f by ln x_i but for a positive factor.
template <class S>
void Learner<S>::move_touched() {
  feature_slope_.resize(to_size(weights_.slots()));
  touched_.clear();
  const S* residual = residual_.data();
  for (const Row* row : judged_) {
    for (const Entry& e : row->entries) {
      float& slope = feature_slope_[to_size(e.slot)];
      if (slope == 0) touched_.push_back(e.slot), penalties_->call_for(e.slot);
      slope -= static_cast<float>(S(e.value) * weights_.product(e.slot, residual));
    }
    residual += weights_.product_width();
  }
  for (const std::int32_t slot : touched_) {
    float& slope = feature_slope_[to_size(slot)];
    if (slope != 0) weights_.set_pace(slot, penalties_->move(slot, slope, round_));
    slope = 0;
  }
}

// The optimiser trains on rows that it does not judge by: those of the round before, or new ones that are for training alone; and on
// replayed ones.
template <class S>
void Learner<S>::ask_optimiser() {
  std::vector<const Row*> inner;
  for (const Row* r : batch_)
    if (r->role == Role::inner) inner.push_back(r);
  const auto size = static_cast<std::int64_t>(buffer_.size());
  for (std::int64_t i = 1; inner.empty() && i <= std::min(kept_, size); ++i)
    inner.push_back(&buffer_[to_size((buffer_next_ + size - i) % size)]);
  draw_replay("penalties", inner);
  const OptimisedPenalties::Learnt learnt{round_,
                                          weights_.slots(),
                                          classes_,
                                          hyper_.value(Tunable::rate, 1.0),
                                          hyper_.value(Tunable::l2, 0.0),
                                          curvature_ > 0 ? curvature_ : 1.0,
                                          hyper_.value(Tunable::temperature, 1.0),
                                          [&](std::int64_t i) {
                                            const double mean = static_cast<double>(weights_.squares(i)) / seen_;
                                            return mean > 0 ? std::pow(mean, -o_.power) : 0.0;
                                          },
                                          [&](std::int64_t i, int c) { return weights_.number(i, 0, c); },
                                          [&](std::int64_t i) { return weights_.pace(i); },
                                          [&](int c) { return static_cast<double>(weights_.constant()[to_size(c)]); }};
  if (!optimised_->round(inner, judged_, learnt)) outer_loss_ = std::nan("");
  const std::span<const float> ratios = optimised_->ratios();
  for (std::size_t i = 0; i < ratios.size(); ++i) weights_.set_pace(static_cast<std::int64_t>(i), ratios[i]);
}

template <class S>
void Learner<S>::decay_features(double rate) {
  std::vector<typename Weights<S>::Moved> moved;
  std::int32_t part = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    ++part;
    if (h.kind == Tunable::rate || h.kind == Tunable::l2) moved.push_back({part, memory_of(h)});
  }
  const double time = static_cast<double>(o_.steps) * rate * hyper_.value(Tunable::l2, 0.0);
  weights_.decay_at_paces(time, moved);
}

template void Learner<float>::move_penalties();
template void Learner<float>::move_touched();
template void Learner<float>::ask_optimiser();
template void Learner<float>::decay_features(double);
template void Learner<double>::move_penalties();
template void Learner<double>::move_touched();
template void Learner<double>::ask_optimiser();
template void Learner<double>::decay_features(double);

}  // namespace obolus::fit
