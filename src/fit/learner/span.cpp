#include "fit/learner/span.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
void Span<S>::open(int rows, int active, const Weights<S>& weights) {
  constexpr int unit = kernels::fit::rows_unit;
  open_ = true;
  stride_ = (rows + unit - 1) / unit * unit;
  lanes_ = weights.lanes();
  members_.clear();
  total_.assign(to_size(rows) * to_size(lanes_), S(0));
  active_.lay_out(weights, active);
  gram_.assign(to_size(active_.stride) * to_size(active_.stride), S(0));
  free_.clear();
  for (int s = active - 1; s >= 0; --s) free_.push_back(s);
  local_of_.resize(to_size(weights.slots()), -1);
}

// After the weights' shape has changed local_of_ may be too short: resized in local().
template <class S>
void Span<S>::correct(const LearnerRow& row, S* lanes, Products& scratch) const {
  auto& [by_member, by_slot] = scratch;
  by_member.assign(to_size(stride_), S(1));  // the constant
  for (const Entry& e : row.entries) {
    const std::int32_t local = to_size(e.slot) < local_of_.size() ? local_of_[to_size(e.slot)] : -1;
    if (local < 0) continue;
    kernels_->add_line(line_.data() + to_size(local) * to_size(stride_), scale_[to_size(local)] * S(e.value), stride_,
                       by_member.data());
  }
  by_slot.assign(to_size(active_.stride), S(0));
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (members_[k].slot >= 0) {
      by_slot[to_size(members_[k].slot)] = by_member[k];
      continue;
    }
    const S by = by_member[k];
    const S* const total = total_.data() + k * to_size(lanes_);
    for (int i = 0; i < lanes_; ++i) lanes[i] -= by * total[i];
  }
  for (int i = 0; i < lanes_; ++i)
    lanes[i] -= kernels_->product(active_.total.data() + i * active_.stride, by_slot.data(), active_.stride);
}

template <class S>
int Span<S>::local(std::int32_t slot, double square, Weights<S>& weights, double seen, double power) {
  if (to_size(slot) >= local_of_.size()) local_of_.resize(to_size(weights.slots()), -1);
  std::int32_t& local = local_of_[to_size(slot)];
  if (local >= 0) return local;
  local = static_cast<std::int32_t>(slot_.size());
  slot_.push_back(slot);
  const auto member = static_cast<std::int32_t>(members_.size()) - 1;
  reach_.push_back({member, member});
  const std::size_t needed = slot_.size() * to_size(stride_);
  if (needed > line_.size()) line_.resize(2 * needed, S(0));
  const double mean = (static_cast<double>(weights.squares(slot)) + square) / (seen + 1);
  scale_.push_back(S(power == 0.5 ? 1 / std::sqrt(mean) : std::pow(mean, -power)));
  max_.push_back(static_cast<float>(10 * std::sqrt(mean * (seen + 1))));
  return local;
}

template <class S>
bool Span<S>::cut(LearnerRow& row) const {
  bool is_cut = false;
  for (Entry& e : row.entries) {
    const std::int32_t local = to_size(e.slot) < local_of_.size() ? local_of_[to_size(e.slot)] : -1;
    if (local < 0 || !(std::abs(e.value) > max_[to_size(local)])) continue;
    e.value = std::copysign(max_[to_size(local)], e.value);
    is_cut = true;
  }
  return is_cut;
}

template <class S>
void Span<S>::admit(const LearnerRow& row, Kind kind, const S* lanes, S target, Weights<S>& weights, double seen,
                    double power) {
  const auto k = members_.size(), n = to_size(active_.stride);
  const int slot = free_.back();
  free_.pop_back();
  members_.push_back({&row, slot, kind});
  for (const Entry& e : row.entries) {
    const double square = kind == Kind::newest ? static_cast<double>(e.value) * static_cast<double>(e.value) : 0.0;
    const auto local = to_size(this->local(e.slot, square, weights, seen, power));
    line_[local * to_size(stride_) + k] += S(e.value);
    reach_[local].last = static_cast<std::int32_t>(k);
  }
  // With the others it has the products of correct(): features that are new to the span are in no other row.
  Numbers& products = products_.by_member;
  products[k] = S(1);
  for (const Entry& e : row.entries) {
    const auto local = to_size(local_of_[to_size(e.slot)]);
    products[k] += scale_[local] * S(e.value) * line_[local * to_size(stride_) + k];
  }
  for (std::size_t other = 0; other < members_.size(); ++other) {
    const int at = members_[other].slot;
    if (at < 0) continue;
    gram_[to_size(slot) * n + to_size(at)] = gram_[to_size(at) * n + to_size(slot)] = products[other];
  }
  for (std::size_t i = 0; i < to_size(lanes_); ++i) {
    active_.logits[i * n + to_size(slot)] = lanes[i];
    active_.total[i * n + to_size(slot)] = active_.push[i * n + to_size(slot)] = S(0);
  }
  active_.label[to_size(slot)] = row.label;
  active_.target[to_size(slot)] = target;
}

template <class S>
void Span<S>::retire(Member& m) {
  const auto k = static_cast<std::size_t>(&m - members_.data()), n = to_size(active_.stride), slot = to_size(m.slot);
  for (std::size_t i = 0; i < to_size(lanes_); ++i) {
    total_[k * to_size(lanes_) + i] = active_.total[i * n + slot];
    active_.push[i * n + slot] = S(0);
  }
  active_.weight[slot] = S(0);
  active_.label[slot] = -1;
  free_.push_back(m.slot);
  m.slot = -1;
}

template <class S>
void Span<S>::age(int recent) {
  for (Member& m : members_)
    if (m.kind == Kind::newest) m.kind = Kind::recent;
  keep(Kind::recent, recent);
}

template <class S>
void Span<S>::keep(Kind kind, int count) {
  for (auto m = members_.rbegin(); m != members_.rend(); ++m)
    if (m->kind == kind && m->slot >= 0 && --count < 0) retire(*m);
}

template <class S>
void Span<S>::weigh(int rows) {
  double all = 0, count = 0;
  for (const Member& m : members_) {
    if (m.slot < 0) continue;
    all += static_cast<double>(m.row->weight);
    ++count;
  }
  std::ranges::fill(active_.weight, S(0));
  std::ranges::fill(active_.is_replayed, S(0));
  std::ranges::fill(active_.is_recent, S(0));
  for (const Member& m : members_) {
    if (m.slot < 0) continue;
    const auto slot = to_size(m.slot);
    active_.weight[slot] = S(static_cast<double>(m.row->weight) * count / (all * rows));
    active_.is_replayed[slot] = S(m.kind == Kind::replayed);
    active_.is_recent[slot] = S(m.kind == Kind::recent);
  }
}

template <class S>
void Span<S>::factor(Kind kind, S by) {
  for (const Member& m : members_)
    if (m.slot >= 0 && m.kind == kind) active_.weight[to_size(m.slot)] *= by;
}

template <class S>
double Span<S>::bound() {
  const auto n = to_size(active_.stride);
  sums_.assign(n, S(0));
  for (const Member& k : members_) {
    if (k.slot < 0) continue;
    const S weight = active_.weight[to_size(k.slot)];
    const S* const row = gram_.data() + to_size(k.slot) * n;
    for (std::size_t r = 0; r < n; ++r) sums_[r] += weight * std::abs(row[r]);
  }
  S max = S(0);
  for (const Member& r : members_)
    if (r.slot >= 0) max = std::max(max, sums_[to_size(r.slot)]);
  return static_cast<double>(max);
}

template <class S>
int Span<S>::active_rows() const {
  return static_cast<int>(std::ranges::count_if(members_, [](const Member& m) { return m.slot >= 0; }));
}

template <class S>
void Span<S>::step(const Hyperparameters& hyper, bool rate_is_limited, Loss loss, std::int64_t steps, double alpha,
                   const Weights<S>& weights) {
  active_.set_parts(hyper, rate_is_limited);
  const kernels::fit::Batch<S> b = active_.view(weights);
  for (std::int64_t k = 0; k < steps; ++k) {
    if (loss == Loss::numbers) kernels_->residuals_squared(b);
    else if (b.outputs == 1) kernels_->residuals_logistic(b);
    else kernels_->residuals_softmax(b);
    kernels_->step(b, gram_.data(), S(alpha));
  }
}

template <class S>
void Span<S>::close(Weights<S>& weights) {
  for (Member& m : members_)
    if (m.slot >= 0) retire(m);
  weights.absorb({slot_, scale_, reach_, line_.data(), stride_, static_cast<int>(members_.size()), total_.data()});
  close_features();
}

template <class S>
void Span<S>::close_features() {
  for (const std::int32_t slot : slot_) local_of_[to_size(slot)] = -1;
  std::fill_n(line_.begin(), slot_.size() * to_size(stride_), S(0));
  slot_.clear();
  reach_.clear();
  scale_.clear();
  max_.clear();
  members_.clear();
  open_ = false;
}

template class Span<float>;
template class Span<double>;

}  // namespace obolus::fit
