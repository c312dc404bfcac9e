#include "fit/learner.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus::fit {
namespace {

using kernels::fit::Part;

Part part_of(Tunable kind) {
  switch (kind) {
    case Tunable::rate: return Part::rate;
    case Tunable::replay: return Part::replay;
    case Tunable::shift: return Part::shift;
    case Tunable::scale: return Part::scale;
    default: return Part::implicit;
  }
}

}  // namespace

template <class S>
Learner<S>::Learner(const LearnerOptions& options, Hyperparameters hyperparameters, std::uint64_t seed)
    : o_(options),
      hyper_(std::move(hyperparameters)),
      rng_(seed),
      weights_(hyper_.parts(), 1, hyper_.groups()),
      slope_(hyper_.list.size()),
      kernels_(&kernels::fit::table<S>()) {
  if (o_.penalties) penalties_.emplace(*o_.penalties);
  if (o_.optimised) optimised_.emplace(*o_.optimised);
  if (features_differ()) weights_.use_paces();
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::predict(const Row& row) {
  sums_.resize(to_size(weights_.groups() * weights_.width()));
  lane_.resize(to_size(weights_.lanes()));
  weights_.gather_unpaid(row, sums_.data());
  weights_.finish(sums_.data(), lane_.data());
  return lane_;
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::add(Row&& row) {
  if (!(row.weight > 0)) return predict(row);  // it would count as a round, and lower the mean of the curvature
  weights_.pay(row);
  predict(row);
  pending_sums_.insert(pending_sums_.end(), sums_.begin(), sums_.end());
  pending_.push_back(std::move(row));
  return lane_;
}

template <class S>
void Learner<S>::see(const Row& row) {
  for (const Entry& e : row.entries) weights_.squares(e.slot) += S(e.value) * S(e.value);
  seen_ += 1;
  // A float of more than 2^24 ones stops growing: from a million rows on, those before count half.
  constexpr double many = 1 << 20;
  if (seen_ < many) return;
  for (std::int64_t i = 0; i < weights_.slots(); ++i) weights_.squares(i) *= S(0.5);
  seen_ /= 2;
}

// Two classes need one logit, the second's; from the third on everybody has one.
template <class S>
void Learner<S>::grow_classes(int classes) {
  if (classes <= classes_) return;
  classes_ = classes;
  class_weight_.resize(to_size(classes));
  const int wanted = classes <= 2 && !o_.softmax ? 1 : classes, old = weights_.outputs();
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
void Learner<S>::regather() {
  std::vector<Row> rows = std::move(pending_);
  pending_.clear(), pending_sums_.clear();
  for (Row& r : rows) add(std::move(r));
}

template <class S>
void Learner<S>::add_l2_group() {
  const Hyperparameter* first = hyper_.find(Tunable::l2);
  if (!first) return;
  Hyperparameter next = *first;
  next.index = hyper_.groups(), next.mean = next.square = 0;
  hyper_.put(next);
  slope_.resize(hyper_.list.size());
  weights_.grow_groups(next.index + 1);
  const auto outputs = to_size(weights_.outputs());
  std::vector<std::vector<double>> same(outputs, std::vector<double>(outputs));
  for (std::size_t c = 0; c < outputs; ++c) same[c][c] = 1;
  weights_.reshape(hyper_.parts(), same);
  regather();
}

template <class S>
void Learner<S>::take(Role unwanted) {
  batch_.clear(), place_.clear();
  for (std::size_t i = 0; i < pending_.size(); ++i)
    if (pending_[i].role != unwanted) batch_.push_back(&pending_[i]), place_.push_back(i);
  fresh_ = batch_.size();
}

template <class S>
void Learner<S>::train() {
  if (pending_.empty()) return;
  ++round_;
  take(Role::inner);
  lay_out();
  if (rows_ > 0) judge();
  if (features_differ()) judged_ = batch_;
  take(Role::outer);
  if (features_differ()) move_penalties();
  if (fresh_ > 0) train_inner();
  keep();
}

template <class S>
void Learner<S>::train_inner() {
  draw_replay("replay", batch_);
  lay_out();
  features_.take(batch_, weights_, seen_, o_.power);
  const S* gram = features_.gram(stride_);
  bool free = true;
  const double rate = rate_of_round(free);
  decay_weights(rate, free);
  for (int r = 0; r < rows_; ++r) {
    const auto i = to_size(r);
    if (i < fresh_) {
      place(pending_sums_.data() + place_[i] * sums_.size(), r);
    } else {
      weights_.pay(row(r));
      weights_.gather(row(r), sums_.data());
      place(sums_.data(), r);
    }
  }
  guard_derivatives();
  steps(gram, rate / curvature_, free);
  write_back();
  if (features_differ()) decay_features(rate);
  weights_.settle();
}

// Inner rows may be replayed from now on.
template <class S>
void Learner<S>::keep() {
  kept_ = 0;
  for (Row& r : pending_) {
    if (r.role == Role::outer || o_.buffer == 0) continue;
    kept_ = std::min(kept_ + 1, o_.buffer);
    if (static_cast<std::int64_t>(buffer_.size()) < o_.buffer) buffer_.push_back(std::move(r));
    else std::swap(buffer_[to_size(buffer_next_)], r);
    buffer_next_ = (buffer_next_ + 1) % o_.buffer;
  }
  pending_.clear(), pending_sums_.clear();
}

template <class S>
void Learner<S>::lay_out() {
  rows_ = static_cast<int>(batch_.size());
  stride_ = (rows_ + kernels::fit::rows_unit - 1) / kernels::fit::rows_unit * kernels::fit::rows_unit;
  const auto n = to_size(stride_), lanes = to_size(weights_.lanes()) * n;
  const auto outputs = to_size(weights_.outputs());
  logits_.assign(lanes, S(0)), push_.assign(lanes, S(0)), total_.assign(lanes, S(0));
  scratch_.resize((outputs + 2) * n);
  weight_.assign(n, S(0)), target_.assign(n, S(0)), is_replayed_.assign(n, S(0)), label_.assign(n, -1);
}

template <class S>
void Learner<S>::place(const S* sums, int r) {
  weights_.finish(sums, lane_.data());
  for (std::size_t lane = 0; lane < lane_.size(); ++lane) logits_[lane * to_size(stride_) + to_size(r)] = lane_[lane];
}

// The outer loss of the waiting rows, its slopes, and the step of the hyperparameters.
template <class S>
void Learner<S>::judge() {
  for (int r = 0; r < rows_; ++r) place(pending_sums_.data() + place_[to_size(r)] * sums_.size(), r);
  std::ranges::fill(slope_, 0.0);
  residual_.clear();
  outer_loss_ = 0;
  double all = 0;
  std::vector<double>& share = slopes_;
  share.clear();
  for (const Row* row : batch_) {
    double w = static_cast<double>(row->weight);
    if (trains_classes()) {
      const auto k = to_size(row->label);
      class_weight_[k] += w;
      if (o_.balanced) w /= class_weight_[k];
    }
    share.push_back(w), all += w;
  }
  if (!(all > 0)) return;
  for (int r = 0; r < rows_; ++r) judge_row(r, share[to_size(r)] / all);
  move_hyperparameters();
}

template <class S>
void Learner<S>::move_hyperparameters() {
  if (path_.empty()) return hyper_.step(slope_);
  const auto after = std::ranges::upper_bound(path_, round_, {}, &PathPlace::round);
  if (after != path_.begin()) hyper_.put_places(std::prev(after)->places);
}

template <class S>
void Learner<S>::judge_row(int r, double weight) {
  const int outputs = weights_.outputs();
  const auto logit = [&](int part, int c) {
    return static_cast<double>(logits_[to_size((part * outputs + c) * stride_ + r)]);
  };
  const Row& row = *batch_[to_size(r)];
  const double warmth = 1 / hyper_.value(Tunable::temperature, 1.0);
  probability_.resize(to_size(outputs));
  // ∂loss/∂logit takes the place of the probabilities.
  if (o_.loss == Loss::numbers) {
    probability_[0] = logit(0, 0) - static_cast<double>(row.target);
    outer_loss_ += weight * 0.5 * probability_[0] * probability_[0];
  } else if (outputs == 1) {
    const double u = warmth * logit(0, 0) * (row.label == 1 ? 1 : -1);
    outer_loss_ += weight * (u > 0 ? std::log1p(std::exp(-u)) : std::log1p(std::exp(u)) - u);
    probability_[0] = warmth * (row.label == 1 ? -1 : 1) / (1 + std::exp(u));
  } else {
    double max = -1e300, sum = 0;
    for (int c = 0; c < outputs; ++c) max = std::max(max, warmth * logit(0, c));
    for (int c = 0; c < outputs; ++c) sum += probability_[to_size(c)] = std::exp(warmth * logit(0, c) - max);
    outer_loss_ += weight * (std::log(sum) + max - warmth * logit(0, row.label));
    for (int c = 0; c < outputs; ++c)
      probability_[to_size(c)] = warmth * (probability_[to_size(c)] / sum - (c == row.label ? 1 : 0));
  }
  if (penalties_) {
    for (const double p : probability_) residual_.push_back(S(weight * p));
    residual_.resize(to_size((r + 1) * weights_.product_width()));
  }
  int part = 0;
  for (std::size_t i = 0; i < hyper_.list.size(); ++i) {
    const Hyperparameter& h = hyper_.list[i];
    if (h.has_part()) ++part;
    if (!h.tuned) continue;
    const bool direct = h.kind == Tunable::temperature;  // d(logit/T)/dln T = −logit/T
    double sum = 0;
    for (int c = 0; c < outputs; ++c) sum += probability_[to_size(c)] * logit(direct ? 0 : part, c);
    slope_[i] += (direct ? -1 : 1) * weight * sum;
  }
}

template <class S>
void Learner<S>::draw_replay(const char* what, std::vector<const Row*>& rows) {
  if (buffer_.empty()) return;
  Rng rng = rng_.child(what, static_cast<std::uint64_t>(round_));
  for (std::int64_t i = 0; i < o_.replay; ++i) rows.push_back(&buffer_[to_size(rng.below(buffer_.size()))]);
}

// `free`: the rate is the hyperparameter's, not the limit's. The bounds of the curvature leave the weight of replayed rows out: they
// must not depend on what is tuned.
template <class S>
double Learner<S>::rate_of_round(bool& free) {
  double all = 0;
  for (const Row* r : batch_) all += static_cast<double>(r->weight);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    weight_[i] = all > 0 ? S(static_cast<double>(batch_[i]->weight) / all) : S(0);
    is_replayed_[i] = S(i >= fresh_), label_[i] = batch_[i]->label, target_[i] = S(batch_[i]->target);
  }
  const double of_loss = !trains_classes() ? 1.0 : weights_.outputs() == 1 ? 0.25 : 0.5;
  const double now = of_loss * features_.bound(weight_.data()),
               part = curvature_ > 0 ? 1 / std::min(static_cast<double>(round_), 100.0) : 1.0;
  curvature_ = (1 - part) * curvature_ + part * now;
  if (!(curvature_ > 0)) curvature_ = 1;
  const S replay_weight = S(hyper_.value(Tunable::replay, 1.0));
  for (std::size_t i = fresh_; i < batch_.size(); ++i) weight_[i] *= replay_weight;
  double rate = hyper_.value(Tunable::rate, 1.0);
  if (o_.decayed) rate /= std::sqrt(1 + static_cast<double>(round_) / 100);
  free = !(rate * now > o_.limit * curvature_);
  return free ? rate : o_.limit * curvature_ / now;
}

template <class S>
void Learner<S>::decay_weights(double rate, bool free) {
  slopes_.assign(to_size(weights_.parts()), 0.0);
  for (int g = 0; !features_differ() && g < weights_.groups(); ++g) {
    constexpr double longest = 40;  // nothing is left then, and what is pushed over ρ still fits a float
    const double time = std::min(static_cast<double>(o_.steps) * rate * hyper_.value(Tunable::l2, 0.0, g), longest),
                 rho = std::exp(-time);
    std::size_t part = 0;
    for (const Hyperparameter& h : hyper_.list) {
      if (!h.has_part()) continue;
      const bool moves = (h.kind == Tunable::rate && free) || (h.kind == Tunable::l2 && h.index == g);
      slopes_[++part] = moves ? -time * rho : 0.0;
    }
    weights_.decay(g, rho, slopes_);
  }
  int part = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    ++part;
    if (const double memory = memory_of(h); memory > 0) weights_.scale_derivative(part, memory);
  }
}

template <class S>
double Learner<S>::memory_of(const Hyperparameter& h) const {
  return h.kind == Tunable::l2 ? o_.l2_memory : h.kind == Tunable::replay ? o_.replay_memory : o_.memory;
}

// Where steps are too long for the curvature, derivatives grow without bound; they are cut back then, or forgotten if that is too little
// to be told from nothing, or if they overflowed. So is everything without memory.
template <class S>
void Learner<S>::guard_derivatives() {
  const int lane = weights_.outputs() * stride_;
  const auto size = [&](int part) {
    double sum = 0;
    for (int i = 0; i < lane; ++i) {
      const double v = static_cast<double>(logits_[to_size(part * lane + i)]);
      sum += v * v;
    }
    return std::sqrt(sum / rows_);
  };
  double scale = 1 + size(0);
  if (o_.loss == Loss::numbers) {
    double squares = 0;
    for (const S t : target_) squares += static_cast<double>(t) * static_cast<double>(t);
    scale = size(0) + std::sqrt(squares / rows_);
  }
  int j = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    const double of_part = size(++j), factor = memory_of(h) > 0 ? o_.max_derivative * scale / of_part : 0.0;
    if (!(factor < 1) && std::isfinite(of_part)) continue;
    S* const derivative = logits_.data() + static_cast<std::ptrdiff_t>(j) * lane;
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
typename Learner<S>::Batch Learner<S>::batch() {
  return {rows_,
          stride_,
          weights_.parts(),
          weights_.outputs(),
          label_.data(),
          target_.data(),
          weight_.data(),
          is_replayed_.data(),
          part_.data(),
          part_class_.data(),
          shift_.empty() ? nullptr : shift_.data(),
          scale_.empty() ? nullptr : scale_.data(),
          logits_.data(),
          push_.data(),
          total_.data(),
          scratch_.data()};
}

template <class S>
void Learner<S>::steps(const S* gram, double alpha, bool free) {
  part_.assign(1, Part::weights), part_class_.assign(1, 0);
  shift_.clear(), scale_.clear();
  for (const Hyperparameter& h : hyper_.list) {
    auto& numbers = h.kind == Tunable::shift ? shift_ : scale_;
    if (h.kind == Tunable::shift || h.kind == Tunable::scale) numbers.push_back(S(h.value()));
    if (!h.has_part()) continue;
    part_.push_back(h.kind == Tunable::rate && !free ? Part::implicit : part_of(h.kind));
    part_class_.push_back(h.index);
  }
  const Batch b = batch();
  for (std::int64_t k = 0; k < o_.steps; ++k) {
    if (o_.loss == Loss::numbers) kernels_->residuals_squared(b);
    else if (b.outputs == 1) kernels_->residuals_logistic(b);
    else kernels_->residuals_softmax(b);
    kernels_->step(b, gram, S(alpha));
  }
}

template <class S>
void Learner<S>::write_back() {
  const int lanes = weights_.lanes();
  scratch_.resize(to_size(weights_.width()));
  for (int r = 0; r < rows_; ++r) {
    for (int lane = 0; lane < lanes; ++lane) {
      const S push = -total_[to_size(lane * stride_ + r)];
      lane_[to_size(lane)] = push;
      weights_.constant()[to_size(lane)] += push;
    }
    weights_.scatter(row(r), features_.scales(r), lane_.data(), scratch_.data());
  }
}

template class Learner<float>;
template class Learner<double>;

}  // namespace obolus::fit
