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
      replay_rng_(seed),
      buffer_(options_.buffer) {
  outer_.set_hyperparameters(hyper_.list.size());
  if (penalties_->per_feature()) weights_.use_feature_decay();
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::predict(const LearnerRow& row, Scratch& scratch) const {
  scratch.sums.resize(to_size(weights_.groups() * weights_.width()));
  scratch.lanes.resize(to_size(weights_.lanes()));
  weights_.gather_decayed(row, scratch.sums.data(), scratch.decayed);
  weights_.combine(scratch.sums.data(), scratch.lanes.data());
  if (span_.is_open()) span_.correct(row, scratch.lanes.data(), scratch.products);
  return scratch.lanes;
}

// predict(), but that the features' pending decay is applied.
template <class S>
void Learner<S>::look(const LearnerRow& row, Numbers& lanes) {
  Numbers& sums = scratch_.sums;
  sums.resize(to_size(weights_.groups() * weights_.width()));
  lanes.resize(to_size(weights_.lanes()));
  weights_.decay_and_gather(row, sums.data());
  weights_.combine(sums.data(), lanes.data());
  span_.correct(row, lanes.data());
}

template <class S>
const typename Learner<S>::Logits& Learner<S>::add(LearnerRow&& row) {
  if (!(row.weight > 0)) return predict(row);  // it would count as a round, and lower the mean of the curvature
  if (!span_.is_open()) open_span();
  look(row, scratch_.lanes);
  pending_.push_back(std::move(row));
  LearnerRow& kept = pending_.back();
  const bool is_cut = kept.serves(Role::inner) && span_.cut(kept);
  if (is_cut) look(kept, cut_lanes_);
  const Numbers& lanes = is_cut ? cut_lanes_ : scratch_.lanes;
  if (kept.serves(Role::outer)) judged_.insert(judged_.end(), lanes.begin(), lanes.end());
  if (kept.serves(Role::inner)) learn(kept, lanes);
  return scratch_.lanes;
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
  hyper_.put(next);
  outer_.set_hyperparameters(hyper_.list.size());
  weights_.grow_groups(next.index + 1);
  const auto outputs = to_size(weights_.outputs());
  std::vector<std::vector<double>> same(outputs, std::vector<double>(outputs));
  for (std::size_t c = 0; c < outputs; ++c) same[c][c] = 1;
  weights_.reshape(hyper_.parts(), same);
  regather();
}

// After the weights' shape has changed, or when a run resumes: the round's rows once more.
template <class S>
void Learner<S>::regather() {
  std::deque<LearnerRow> rows = std::move(pending_);
  pending_.clear();
  judged_.clear();
  if (span_.is_open()) {
    curvature_ = curvature_before_;
    learnt_ = learnt_before_;
  }
  span_.forget();
  for (LearnerRow& r : rows) add(std::move(r));
}

template <class S>
void Learner<S>::train() {
  if (pending_.empty()) return;
  ++round_;
  rows_.clear();
  for (const LearnerRow& r : pending_)
    if (r.serves(Role::outer)) rows_.push_back(&r);
  if (!rows_.empty()) outer_half();
  move_penalties();
  close_span();
  for (const LearnerRow& r : pending_) see(r);
  see_targets();
  buffer_.keep(pending_);
  pending_.clear();
  judged_.clear();
}

template <class S>
void Learner<S>::see_targets() {
  if (trains_classes()) return;
  for (const LearnerRow& r : pending_) targets_.see(static_cast<double>(r.target));
  weights_.constant()[0] -= S(targets_.settle());
}

// The outer loss of the round's rows, its slopes, and the step of the hyperparameters.
template <class S>
void Learner<S>::outer_half() {
  batch_.rows = rows_;
  batch_.lay_out(weights_, static_cast<int>(rows_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    other_lanes_.assign(judged_.begin() + static_cast<std::ptrdiff_t>(r * to_size(weights_.lanes())),
                        judged_.begin() + static_cast<std::ptrdiff_t>((r + 1) * to_size(weights_.lanes())));
    batch_.set_logits(static_cast<int>(r), other_lanes_);
  }
  if (outer_.measure(batch_, weights_, hyper_, targets_.offset(), penalties_->needs_residuals()))
    move_hyperparameters();
}

template <class S>
void Learner<S>::move_hyperparameters() {
  if (path_.empty()) return hyper_.step(outer_.pull(), outer_.information(), static_cast<double>(rows_.size()));
  const auto after = std::ranges::upper_bound(path_, round_, {}, &PathPlace::round);
  if (after != path_.begin()) hyper_.put_places(std::prev(after)->places);
}

template <class S>
void Learner<S>::move_penalties() {
  const auto scale = [this](std::int64_t i) {
    const double mean = static_cast<double>(weights_.squares(i)) / seen_;
    return mean > 0 ? std::pow(mean, -options_.power) : 0.0;
  };
  const PenaltyRound<S> round{round_, classes_,           curvature_ > 0 ? curvature_ : 1.0,       hyper_,
                              rows_,  outer_.residuals(), [this] { return rows_for_optimiser(); }, scale};
  if (!penalties_->move(round, weights_)) outer_.set_diverged();
}

// An optimiser trains on rows that it does not judge by: new ones that are for training alone, or else the last of
// the round before; and on replayed ones.
template <class S>
RowPointers Learner<S>::rows_for_optimiser() const {
  RowPointers rows;
  for (const LearnerRow& r : pending_)
    if (r.role == Role::inner) rows.push_back(&r);
  if (const LearnerRow* newest = buffer_.newest(); rows.empty() && newest) rows.push_back(newest);
  buffer_.draw(rng_.child("penalties", static_cast<std::uint64_t>(round_)), options_.replay, rows);
  return rows;
}

template <class S>
void Learner<S>::open_span() {
  const auto recent = static_cast<int>(options_.recent), replay = static_cast<int>(options_.replay);
  span_.open(recent + (1 + replay) * static_cast<int>(options_.batch), recent + replay + 1, weights_);
  curvature_before_ = curvature_;
  learnt_before_ = learnt_;
  time_ = free_time_ = 0;
  replay_rng_ = rng_.child("replay", static_cast<std::uint64_t>(round_ + 1));
  rows_.clear();
  buffer_.latest(options_.recent, rows_);
  for (const LearnerRow* row : rows_) {
    look(*row, other_lanes_);
    admit(*row, Span<S>::Kind::recent, other_lanes_);
  }
}

template <class S>
void Learner<S>::admit(const LearnerRow& row, typename Span<S>::Kind kind, const Numbers& lanes) {
  span_.admit(row, kind, lanes.data(), S(static_cast<double>(row.target) - targets_.offset()), weights_, seen_,
              options_.power);
}

// Its steps, on the newest row, some before it and replayed ones that are drawn for it.
template <class S>
void Learner<S>::learn(const LearnerRow& row, const Numbers& lanes) {
  span_.keep(Span<S>::Kind::replayed, 0);
  span_.age(static_cast<int>(options_.recent));
  admit(row, Span<S>::Kind::newest, lanes);
  for (std::int64_t i = 0; i < options_.replay; ++i)
    if (const LearnerRow* replayed = buffer_.draw(replay_rng_)) {
      look(*replayed, other_lanes_);
      admit(*replayed, Span<S>::Kind::replayed, other_lanes_);
    }
  const Rate rate = update_rate();
  span_.step(hyper_, rate.is_limited, options_.loss, options_.steps, rate.value / curvature_, weights_);
  const double time = static_cast<double>(options_.steps) * rate.value;
  time_ += time;
  if (!rate.is_limited) free_time_ += time;
}

template <class S>
void Learner<S>::close_span() {
  measure_excess();
  span_.close(weights_);
  shorten_derivatives();
  const double free_part = time_ > 0 ? free_time_ / time_ : 1.0;
  penalties_->decay_after_steps({hyper_, time_, free_part, options_.memory, options_.l2_memory}, weights_);
  weights_.renormalise();
}

// The bounds of the curvature leave the weights of the kinds of rows out: they must not depend on what is tuned.
template <class S>
typename Learner<S>::Rate Learner<S>::update_rate() {
  span_.weigh(static_cast<int>(1 + options_.recent + options_.replay));
  const double of_loss = !trains_classes() ? 1.0 : weights_.outputs() == 1 ? 0.25 : 0.5;
  const double now = of_loss * span_.bound();
  constexpr double rows = 800;
  learnt_ = std::min(learnt_ + 1, rows);
  curvature_ += (now - curvature_) / learnt_;
  if (!(curvature_ > 0)) curvature_ = 1;
  span_.factor(Span<S>::Kind::replayed, S(hyper_.value(Tunable::replay, 1.0)));
  span_.factor(Span<S>::Kind::recent, S(hyper_.value(Tunable::recent, 1.0)));
  double rate = hyper_.value(Tunable::rate, 1.0);
  if (options_.decayed) rate /= std::sqrt(1 + static_cast<double>(round_) / 100);
  // Steps on squares diverge beyond twice one over the curvature, whatever weighs the rows.
  const double most = trains_classes() ? now : std::max(now, span_.bound());
  const bool is_limited = rate * most > options_.limit * curvature_;
  return {is_limited ? options_.limit * curvature_ / most : rate, is_limited};
}

// Derivatives fade. Where steps are too long for the curvature they grow without bound; they are cut back then, or
// forgotten if that is too little to be told from nothing, or if they overflowed.
template <class S>
void Learner<S>::shorten_derivatives() {
  int part = 0;
  for (const Hyperparameter& h : hyper_.list) {
    if (!h.has_part()) continue;
    const double factor = memory_of(h) * within_[to_size(part++)];
    if (factor > 0x1p-40) weights_.scale_derivative(part, factor);
    else weights_.forget_derivative(part);
  }
}

template <class S>
double Learner<S>::memory_of(const Hyperparameter& h) const {
  return h.kind == Tunable::l2       ? options_.l2_memory
         : h.kind == Tunable::replay ? options_.replay_memory
                                     : options_.memory;
}

// The factor of each derivative that keeps it to `max_derivative` times the size of the logits, root mean square over
// the rows at hand; 0: it overflowed.
template <class S>
void Learner<S>::measure_excess() {
  const RoundBatch<S>& batch = span_.active();
  const int lane = weights_.outputs() * batch.stride, rows = span_.active_rows();
  within_.assign(to_size(weights_.parts() - 1), 1.0);
  if (rows == 0) return;
  const auto size = [&](int part) {
    double sum = 0;
    for (int i = 0; i < lane; ++i) {
      if (batch.label[to_size(i % batch.stride)] < 0) continue;  // no row, or one that has retired
      const double v = static_cast<double>(batch.logits[to_size(part * lane + i)]);
      sum += v * v;
    }
    return std::sqrt(sum / rows);
  };
  double scale = 1 + size(0);
  if (options_.loss == Loss::numbers) {
    double squares = 0;
    for (std::size_t r = 0; r < batch.target.size(); ++r)
      if (batch.label[r] >= 0) squares += static_cast<double>(batch.target[r]) * static_cast<double>(batch.target[r]);
    scale = size(0) + std::sqrt(squares / rows);
  }
  for (int part = 1; part < weights_.parts(); ++part) {
    const double of_part = size(part), within = options_.max_derivative * scale;
    within_[to_size(part - 1)] = !std::isfinite(of_part) ? 0.0 : of_part > within ? within / of_part : 1.0;
  }
}

template class Learner<float>;
template class Learner<double>;

}  // namespace obolus::fit
