#include "fit/learner/learner.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
Learner<S>::Learner(const LearnerOptions& options, Hyperparameters hyperparameters, std::uint64_t seed)
    : options_(options),
      hyper_(std::move(hyperparameters)),
      rng_(seed),
      weights_(hyper_.parts(), 1, hyper_.groups()),
      penalties_(make_penalties<S>(options_.first_order, options_.by_optimiser)),
      outer_(options_.loss, options_.balanced),
      buffer_(options_.buffer),
      kernels_(&kernels::fit::table<S>()) {
  outer_.set_hyperparameters(hyper_.list.size());
  if (penalties_->per_feature()) weights_.use_feature_decay();
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::predict(const LearnerRow& row) {
  sums_.resize(to_size(weights_.groups() * weights_.width()));
  lanes_.resize(to_size(weights_.lanes()));
  weights_.gather_decayed(row, sums_.data());
  weights_.combine(sums_.data(), lanes_.data());
  return lanes_;
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::add(LearnerRow&& row) {
  if (!(row.weight > 0)) return predict(row);  // it would count as a round, and lower the mean of the curvature
  weights_.apply_pending_decay(row);
  predict(row);
  pending_sums_.insert(pending_sums_.end(), sums_.begin(), sums_.end());
  pending_.push_back(std::move(row));
  return lanes_;
}

template <class S>
void Learner<S>::see(const LearnerRow& row) {
  for (const Entry& e : row.entries) weights_.squares(e.slot) += S(e.value) * S(e.value);
  seen_ += 1;
  // A float of more than 2^24 ones stops growing: from a million rows on, those before count half.
  constexpr double many = 1 << 20;
  if (seen_ < many) return;
  for (std::int64_t i = 0; i < weights_.slots(); ++i) weights_.squares(i) *= S(0.5);
  seen_ /= 2;
}

// Two classes need one logit, the second's; from the third on every class has one.
template <class S>
void Learner<S>::grow_classes(int classes) {
  if (classes <= classes_) return;
  classes_ = classes;
  outer_.grow_classes(classes);
  const int wanted = outputs_for(classes), old = weights_.outputs();
  if (wanted == old) return;
  std::vector<std::vector<double>> spread(to_size(wanted), std::vector<double>(to_size(old)));
  if (old == 1) {
    spread[0][0] = -0.5;
    if (wanted > 1) spread[1][0] = 0.5;
  } else {
    for (std::size_t c = 0; c < to_size(old); ++c) spread[c][c] = 1;
  }
  weights_.reshape(weights_.parts(), spread);
  regather();
}

template <class S>
void Learner<S>::add_l2_group() {
  const Hyperparameter* first = hyper_.find(Tunable::l2);
  if (!first) return;
  Hyperparameter next = *first;
  next.index = hyper_.groups();
  next.mean = next.square = 0;
  hyper_.put(next);
  outer_.set_hyperparameters(hyper_.list.size());
  weights_.grow_groups(next.index + 1);
  const auto outputs = to_size(weights_.outputs());
  std::vector<std::vector<double>> same(outputs, std::vector<double>(outputs));
  for (std::size_t c = 0; c < outputs; ++c) same[c][c] = 1;
  weights_.reshape(hyper_.parts(), same);
  regather();
}

// After the weights' shape has changed.
template <class S>
void Learner<S>::regather() {
  std::vector<LearnerRow> rows = std::move(pending_);
  pending_.clear();
  pending_sums_.clear();
  for (LearnerRow& r : rows) add(std::move(r));
}

template <class S>
void Learner<S>::train() {
  if (pending_.empty()) return;
  ++round_;
  batch_.select(pending_, Role::outer);
  if (batch_.size() > 0) outer_half();
  outer_rows_ = batch_.rows;
  batch_.select(pending_, Role::inner);
  move_penalties();
  if (batch_.size() > 0) inner_half();
  buffer_.keep(pending_);
  pending_.clear();
  pending_sums_.clear();
}

// The outer loss of the waiting rows, its slopes, and the step of the hyperparameters.
template <class S>
void Learner<S>::outer_half() {
  batch_.lay_out(weights_);
  for (int r = 0; r < batch_.size(); ++r)
    set_logits(r, pending_sums_.data() + batch_.pending[to_size(r)] * sums_.size());
  if (outer_.measure(batch_, weights_, hyper_, penalties_->needs_residuals())) move_hyperparameters();
}

template <class S>
void Learner<S>::move_hyperparameters() {
  if (path_.empty()) return hyper_.step(outer_.slope());
  const auto after = std::ranges::upper_bound(path_, round_, {}, &PathPlace::round);
  if (after != path_.begin()) hyper_.put_places(std::prev(after)->places);
}

template <class S>
void Learner<S>::move_penalties() {
  const auto scale = [this](std::int64_t i) {
    const double mean = static_cast<double>(weights_.squares(i)) / seen_;
    return mean > 0 ? std::pow(mean, -options_.power) : 0.0;
  };
  const PenaltyRound<S> round{round_,      classes_,           curvature_ > 0 ? curvature_ : 1.0,       hyper_,
                              outer_rows_, outer_.residuals(), [this] { return rows_for_optimiser(); }, scale};
  if (!penalties_->move(round, weights_)) outer_.set_diverged();
}

// An optimiser trains on rows that it does not judge by: new ones that are for training alone, or else the last of
// the round before; and on replayed ones.
template <class S>
RowPointers Learner<S>::rows_for_optimiser() const {
  RowPointers rows;
  for (const LearnerRow* r : batch_.rows)
    if (r->role == Role::inner) rows.push_back(r);
  if (const LearnerRow* newest = buffer_.newest(); rows.empty() && newest) rows.push_back(newest);
  buffer_.draw(rng_.child("penalties", static_cast<std::uint64_t>(round_)), options_.replay, rows);
  return rows;
}

template <class S>
void Learner<S>::inner_half() {
  buffer_.draw(rng_.child("replay", static_cast<std::uint64_t>(round_)), options_.replay, batch_.rows);
  batch_.lay_out(weights_);
  features_.take(batch_.rows, weights_, seen_, options_.power);
  features_.compute_gram(batch_.stride);
  weigh_batch();
  const Rate rate = update_rate();
  const DecayTime decay{hyper_, static_cast<double>(options_.steps) * rate.value, rate.is_limited, options_.memory,
                        options_.l2_memory};
  penalties_->decay_before_steps(decay, weights_);
  fade_derivatives();
  set_inner_logits();
  guard_derivatives();
  take_steps(rate.value / curvature_, rate.is_limited);
  write_back();
  penalties_->decay_after_steps(decay, weights_);
  weights_.renormalise();
}

// The replay weight is not in the weights yet: see update_rate().
template <class S>
void Learner<S>::weigh_batch() {
  double all = 0;
  for (const LearnerRow* r : batch_.rows) all += static_cast<double>(r->weight);
  for (std::size_t i = 0; i < batch_.rows.size(); ++i) {
    const LearnerRow& row = *batch_.rows[i];
    batch_.weight[i] = all > 0 ? S(static_cast<double>(row.weight) / all) : S(0);
    batch_.is_replayed[i] = S(i >= batch_.pending.size());
    batch_.label[i] = row.label;
    batch_.target[i] = S(row.target);
  }
}

// The bounds of the curvature leave the weight of replayed rows out: they must not depend on what is tuned.
template <class S>
typename Learner<S>::Rate Learner<S>::update_rate() {
  const double of_loss = !trains_classes() ? 1.0 : weights_.outputs() == 1 ? 0.25 : 0.5;
  const double now = of_loss * features_.bound(batch_.weight.data());
  const double part = curvature_ > 0 ? 1 / std::min(static_cast<double>(round_), 100.0) : 1.0;
  curvature_ = (1 - part) * curvature_ + part * now;
  if (!(curvature_ > 0)) curvature_ = 1;
  const S replay_weight = S(hyper_.value(Tunable::replay, 1.0));
  for (std::size_t i = batch_.pending.size(); i < batch_.rows.size(); ++i) batch_.weight[i] *= replay_weight;
  double rate = hyper_.value(Tunable::rate, 1.0);
  if (options_.decayed) rate /= std::sqrt(1 + static_cast<double>(round_) / 100);
  const bool is_limited = rate * now > options_.limit * curvature_;
  return {is_limited ? options_.limit * curvature_ / now : rate, is_limited};
}

template <class S>
void Learner<S>::fade_derivatives() {
  int part = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    ++part;
    if (const double memory = memory_of(h); memory > 0) weights_.scale_derivative(part, memory);
  }
}

template <class S>
double Learner<S>::memory_of(const Hyperparameter& h) const {
  return h.kind == Tunable::l2       ? options_.l2_memory
         : h.kind == Tunable::replay ? options_.replay_memory
                                     : options_.memory;
}

template <class S>
void Learner<S>::set_logits(int r, const S* sums) {
  weights_.combine(sums, lanes_.data());
  batch_.set_logits(r, lanes_);
}

template <class S>
void Learner<S>::set_inner_logits() {
  for (int r = 0; r < batch_.size(); ++r) {
    const auto i = to_size(r);
    if (i < batch_.pending.size()) {
      set_logits(r, pending_sums_.data() + batch_.pending[i] * sums_.size());
      continue;
    }
    weights_.apply_pending_decay(*batch_.rows[i]);
    weights_.gather(*batch_.rows[i], sums_.data());
    set_logits(r, sums_.data());
  }
}

// Where steps are too long for the curvature, derivatives grow without bound; they are cut back then, or forgotten if
// that is too little to be told from nothing, or if they overflowed. So is everything without memory.
template <class S>
void Learner<S>::guard_derivatives() {
  const int lane = weights_.outputs() * batch_.stride;
  const auto size = [&](int part) {
    double sum = 0;
    for (int i = 0; i < lane; ++i) {
      const double v = static_cast<double>(batch_.logits[to_size(part * lane + i)]);
      sum += v * v;
    }
    return std::sqrt(sum / batch_.size());
  };
  double scale = 1 + size(0);
  if (options_.loss == Loss::numbers) {
    double squares = 0;
    for (const S t : batch_.target) squares += static_cast<double>(t) * static_cast<double>(t);
    scale = size(0) + std::sqrt(squares / batch_.size());
  }
  int j = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    const double of_part = size(++j), factor = memory_of(h) > 0 ? options_.max_derivative * scale / of_part : 0.0;
    if (!(factor < 1) && std::isfinite(of_part)) continue;
    S* const derivative = batch_.logits.data() + static_cast<std::ptrdiff_t>(j) * lane;
    if (factor > 0x1p-40) {
      weights_.scale_derivative(j, factor);
      for (int i = 0; i < lane; ++i) derivative[i] *= S(factor);
    } else {
      weights_.forget_derivative(j);
      std::fill(derivative, derivative + lane, S(0));
    }
  }
}

template <class S>
void Learner<S>::take_steps(double alpha, bool rate_is_limited) {
  batch_.set_parts(hyper_, rate_is_limited);
  const kernels::fit::Batch<S> b = batch_.view(weights_);
  for (std::int64_t k = 0; k < options_.steps; ++k) {
    if (options_.loss == Loss::numbers) kernels_->residuals_squared(b);
    else if (b.outputs == 1) kernels_->residuals_logistic(b);
    else kernels_->residuals_softmax(b);
    kernels_->step(b, features_.gram(), S(alpha));
  }
}

template <class S>
void Learner<S>::write_back() {
  row_scratch_.resize(to_size(weights_.width()));
  for (int r = 0; r < batch_.size(); ++r) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      const S push = -batch_.total[lane * to_size(batch_.stride) + to_size(r)];
      lanes_[lane] = push;
      weights_.constant()[lane] += push;
    }
    weights_.scatter(*batch_.rows[to_size(r)], features_.scales(r), lanes_.data(), row_scratch_.data());
  }
}

template class Learner<float>;
template class Learner<double>;

}  // namespace obolus::fit
