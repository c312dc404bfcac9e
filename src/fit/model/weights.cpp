#include "fit/model/weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {
namespace {

// Packs of every width are aligned then.
int width_for(int lanes) {
  if (lanes < 4) return 4;
  if (lanes < 8) return 8;
  return (lanes + 1 + kernels::fit::rows_unit - 1) / kernels::fit::rows_unit * kernels::fit::rows_unit;
}

// exp(−pending); most are small, and exact to a float in a few terms.
double left_after(double pending) {
  constexpr double small = 0x1p-7;
  if (pending > small) return std::exp(-pending);
  double sum = 1;
  for (const double by : {1.0 / 7, 1.0 / 6, 1.0 / 5, 1.0 / 4, 1.0 / 3, 1.0 / 2, 1.0}) sum = 1 - pending * by * sum;
  return sum;
}

bool is_size(std::size_t got, std::int64_t expected) { return got == static_cast<std::uint64_t>(expected); }

[[noreturn]] void refuse() { throw DataError("saved state: the sizes of the weights do not fit together"); }

}  // namespace

template <class S>
Weights<S>::Weights(int parts, int outputs, int groups)
    : parts_(parts),
      outputs_(outputs),
      groups_(groups),
      width_(width_for(parts * outputs)),
      constant_(to_size(parts * outputs)),
      group_decay_(to_size(groups), GroupDecay(parts)),
      kernels_(&kernels::fit::table<S>()) {}

template <class S>
void Weights<S>::grow(std::int64_t slots) {
  if (slots <= slots_) return;
  const auto needed = to_size(slots) * to_size(width_);
  if (needed > memory_.capacity()) memory_.reserve(std::max(needed, memory_.capacity() + memory_.capacity() / 2));
  memory_.resize(needed);
  if (groups_ > 1) group_of_.resize(to_size(slots));
  slots_ = slots;
  feature_decay_.grow(slots_);
}

template <class S>
int Weights<S>::set_group(std::int64_t slot, int group) {
  if (groups_ == 1) return 0;
  std::uint16_t& of = group_of_[to_size(slot)];
  if (of == 0) of = static_cast<std::uint16_t>(group + 1);
  return of - 1;
}

template <class S>
void Weights<S>::grow_groups(int groups) {
  groups_ = std::max(groups_, groups);
  group_decay_.resize(to_size(groups_), GroupDecay(parts_));
  if (groups_ > 1) group_of_.resize(to_size(slots_));
}

template <class S>
void Weights<S>::reshape(int parts, const std::vector<std::vector<double>>& spread) {
  for (std::int64_t i = 0; feature_decay_.in_use() && i < slots_; ++i) apply_pending_decay(i);
  apply_group_decay();
  const int old_outputs = outputs_, old_parts = parts_, old_width = width_;
  const auto old = std::move(memory_);
  const std::vector<S> old_constant = std::move(constant_);
  parts_ = parts;
  outputs_ = static_cast<int>(spread.size());
  width_ = width_for(parts * outputs_);
  const auto move = [&](const S* from, S* to) {
    for (int j = 0; j < std::min(old_parts, parts_); ++j)
      for (int c = 0; c < outputs_; ++c) {
        double sum = 0;
        for (int k = 0; k < old_outputs; ++k)
          sum += spread[to_size(c)][to_size(k)] * static_cast<double>(from[j * old_outputs + k]);
        to[j * outputs_ + c] = static_cast<S>(sum);
      }
  };
  memory_ = {};
  const std::int64_t slots = slots_;
  slots_ = 0;
  grow(slots);
  for (std::int64_t i = 0; i < slots; ++i) {
    const S* from = old.data() + to_size(i) * to_size(old_width);
    move(from, at(i));
    squares(i) = from[old_width - 1];
  }
  constant_.assign(to_size(lanes()), S(0));
  move(old_constant.data(), constant_.data());
  std::ranges::fill(group_decay_, GroupDecay(parts_));
}

template <class S>
void Weights<S>::gather(const LearnerRow& row, S* sums) const {
  gather(row, row.entries.data(), memory_.data(), sums);
}

template <class S>
void Weights<S>::gather(const LearnerRow& row, const Entry* entries, const S* memory, S* sums) const {
  std::fill(sums, sums + groups_ * width_, S(0));
  for (int g = 0; g < groups_; ++g)
    if (const std::int64_t first = row.first(g), last = row.last(g); last > first)
      kernels_->gather(entries + first, last - first, memory, width_, sums + g * width_);
}

template <class S>
void Weights<S>::gather_decayed(const LearnerRow& row, S* sums, Decayed& scratch) const {
  const auto is_applied = [&](const Entry& e) { return feature_decay_.is_applied(e.slot); };
  if (!feature_decay_.in_use() || std::ranges::all_of(row.entries, is_applied)) return gather(row, sums);
  auto& [memory, entries] = scratch;
  entries = row.entries;
  memory.resize(entries.size() * to_size(width_));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    S* const to = memory.data() + i * to_size(width_);
    std::copy_n(at(entries[i].slot), width_, to);
    if (!is_applied(entries[i])) decay_row(entries[i].slot, to);
    entries[i].slot = static_cast<std::int32_t>(i);
  }
  gather(row, entries.data(), memory.data(), sums);
}

template <class S>
void Weights<S>::combine(const S* sums, S* lanes) const {
  std::ranges::copy(constant_, lanes);
  for (int g = 0; g < groups_; ++g) group_decay_[to_size(g)].add_true(sums + g * width_, outputs_, lanes);
}

template <class S>
void Weights<S>::absorb(const LearntRows<S>& learnt) {
  const auto width = to_size(width_), rows = to_size(learnt.count), all = to_size(lanes());
  pushes_.assign(to_size(groups_) * rows * width, S(0));
  push_.resize(all);
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t i = 0; i < all; ++i) {
      push_[i] = -learnt.total[k * all + i];
      constant_[i] += push_[i];
    }
    for (std::size_t g = 0; g < to_size(groups_); ++g)
      group_decay_[g].stored_push(push_.data(), outputs_, pushes_.data() + (g * rows + k) * width);
  }
  constexpr std::size_t ahead = 4;
  for (std::size_t f = 0; f < learnt.slots.size(); ++f) {
    if (f + ahead < learnt.slots.size()) prefetch(learnt.slots[f + ahead]);
    const auto [first, last] = learnt.reaches[f];
    const std::int32_t slot = learnt.slots[f];
    kernels_->absorb(learnt.lines + f * to_size(learnt.stride) + first, last - first + 1, learnt.scales[f],
                     pushes_.data() + (group_of(slot) * rows + to_size(first)) * width, at(slot), width_);
  }
}

template <class S>
void Weights<S>::scale_derivative(int part, double factor) {
  for (GroupDecay& g : group_decay_) g.scale_derivative(part, factor);
  for (int c = 0; c < outputs_; ++c) constant_[to_size(part * outputs_ + c)] *= S(factor);
}

template <class S>
void Weights<S>::forget_derivative(int part) {
  for (GroupDecay& g : group_decay_) g.forget_derivative(part);
  for (int c = 0; c < outputs_; ++c) {
    for (std::int64_t i = 0; i < slots_; ++i) at(i)[part * outputs_ + c] = S(0);
    constant_[to_size(part * outputs_ + c)] = S(0);
  }
}

template <class S>
void Weights<S>::renormalise() {
  if (std::ranges::any_of(group_decay_, &GroupDecay::is_extreme)) apply_group_decay();
}

template <class S>
void Weights<S>::apply_group_decay() {
  for (std::int64_t i = 0; i < slots_; ++i) group_decay_[group_of(i)].apply(at(i), outputs_);
  std::ranges::fill(group_decay_, GroupDecay(parts_));
}

// In one pass, so that every row of weights is in the nearest cache when it is added up.
template <class S>
void Weights<S>::decay_and_gather(const LearnerRow& row, S* sums) {
  if (!feature_decay_.in_use()) return gather(row, sums);
  std::fill(sums, sums + groups_ * width_, S(0));
  constexpr std::int64_t ahead = 8;
  const auto count = std::ssize(row.entries);
  for (int g = 0; g < groups_; ++g)
    for (std::int64_t i = row.first(g); i < row.last(g); ++i) {
      if (i + ahead < count) {
        const std::int32_t next = row.entries[to_size(i + ahead)].slot;
        feature_decay_.prefetch(next);
        prefetch(next);
      }
      const Entry& e = row.entries[to_size(i)];
      apply_pending_decay(e.slot);
      kernels_->add_line(at(e.slot), S(e.value), width_, sums + g * width_);
    }
}

template <class S>
void Weights<S>::apply_pending_decay(std::int64_t slot) {
  if (feature_decay_.is_applied(slot)) return;
  decay_row(slot, at(slot));
  feature_decay_.set_applied(slot);
}

template <class S>
void Weights<S>::decay_row(std::int64_t slot, S* row) const {
  const double pending = feature_decay_.pending(slot);
  const GroupDecay& group = group_decay_[group_of(slot)];
  const std::vector<DecayDerivative>& derivatives = feature_decay_.derivatives();
  std::array<kernels::fit::Moved<S>, FeatureDecay::max_derivatives> moved;
  for (std::size_t m = 0; m < derivatives.size(); ++m) {
    const int part = derivatives[m].part;
    moved[m] = {part, S(-group.z / group.s[to_size(part)] * feature_decay_.kept(m, slot) * pending)};
  }
  kernels_->decay(row, lanes(), outputs_, S(left_after(pending)), moved.data(), static_cast<int>(derivatives.size()));
}

template <class S>
double Weights<S>::value(std::int64_t slot, int part, int output) const {
  const GroupDecay& group = group_decay_[group_of(slot)];
  const S* row = at(slot);
  const bool decays = feature_decay_.in_use();
  const double pending = decays ? feature_decay_.pending(slot) : 0.0, left = decays ? std::exp(-pending) : 1.0;
  const double z = left * group.z * static_cast<double>(row[output]);
  if (part == 0) return z;
  const auto j = to_size(part);
  double sum = left * (group.s[j] * static_cast<double>(row[part * outputs_ + output]) +
                       group.mix[j] * static_cast<double>(row[output]));
  const std::vector<DecayDerivative>& derivatives = feature_decay_.derivatives();
  for (std::size_t m = 0; decays && m < derivatives.size(); ++m)
    if (derivatives[m].part == part) sum -= feature_decay_.kept(m, slot) * pending * z;
  return sum;
}

template <class S>
bool Weights<S>::has_sound_groups(std::int64_t slots) const {
  return is_size(group_of_.size(), groups_ > 1 ? slots : 0) &&
         std::ranges::all_of(group_of_, [&](std::uint16_t g) { return g <= groups_; });
}

template <class S>
void Weights<S>::fields(Archive& a) {
  a("parts", parts_);
  a("outputs", outputs_);
  a("groups", groups_);
  a("slots", slots_);
  constexpr int max = 1 << 24;  // of each, so that no product of theirs is too large
  if (parts_ < 1 || parts_ > max || outputs_ < 1 || outputs_ > max / parts_ || groups_ < 1 || slots_ < 0 ||
      slots_ > std::int64_t{1} << 31)
    refuse();
  if (a.loading()) width_ = width_for(parts_ * outputs_);
  saved(a, "memory", memory_);
  saved(a, "group_of", group_of_);
  saved(a, "constant", constant_);
  saved_list(a, "lazy", group_decay_);
  feature_decay_.derivative_fields(a);
  feature_decay_.clock_fields(a);
  const auto is_sound = [&](const GroupDecay& g) { return g.is_sound(parts_); };
  if (!is_size(memory_.size(), slots_ * width_) || !is_size(constant_.size(), lanes()) ||
      !is_size(group_decay_.size(), groups_) || !std::ranges::all_of(group_decay_, is_sound) ||
      !feature_decay_.is_sound(slots_, parts_) || !has_sound_groups(slots_))
    refuse();
}

template <class S>
void Weights<S>::model_fields(Archive& a) {
  int outputs = outputs_;
  std::int64_t slots = slots_;
  std::vector<S> weights, constant(constant_.begin(), constant_.begin() + outputs_);
  weights.reserve(a.loading() ? 0 : to_size(slots_ * outputs_));
  for (std::int64_t i = 0; !a.loading() && i < slots_; ++i)
    for (int c = 0; c < outputs_; ++c) weights.push_back(static_cast<S>(value(i, 0, c)));
  a("outputs", outputs);
  a("slots", slots);
  saved(a, "weights", weights);
  saved(a, "constant", constant);
  saved(a, "group_of", group_of_);
  const bool decays = feature_decay_.in_use();
  std::vector<float> ratios = feature_decay_.ratios();
  if (decays) saved(a, "paces", ratios);
  if (!a.loading()) return;
  constexpr int max_outputs = 1 << 16;
  if (outputs < 1 || outputs > max_outputs || slots < 0 || slots > static_cast<std::int64_t>(weights.size()) ||
      !is_size(weights.size(), slots * outputs) || !is_size(constant.size(), outputs) || !has_sound_groups(slots) ||
      !is_size(ratios.size(), decays ? slots : 0))
    refuse();
  std::vector<std::uint16_t> group_of = std::move(group_of_);
  *this = Weights(parts_, outputs, groups_);
  grow(slots);
  if (decays) use_feature_decay();
  feature_decay_.set_ratios(ratios);
  group_of_ = std::move(group_of);
  for (std::int64_t i = 0; i < slots; ++i) std::copy_n(weights.data() + i * outputs, outputs, at(i));
  std::ranges::copy(constant, constant_.begin());
}

template class Weights<float>;
template class Weights<double>;

}  // namespace obolus::fit
