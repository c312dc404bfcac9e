#include "fit/weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "fit/saved_vectors.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {
namespace {

// Packs of every width are aligned then.
int width_for(int lanes) {
  if (lanes < 4) return 4;
  if (lanes < 8) return 8;
  return (lanes + 1 + kernels::fit::rows_unit - 1) / kernels::fit::rows_unit * kernels::fit::rows_unit;
}

// exp(−due); most are small, and exact to a float in a few terms.
double left_after(double due) {
  constexpr double small = 0x1p-7;
  if (due > small) return std::exp(-due);
  return 1 - due * (1 - due / 2 * (1 - due / 3 * (1 - due / 4 * (1 - due / 5 * (1 - due / 6 * (1 - due / 7))))));
}

}  // namespace

template <class S>
Weights<S>::Weights(int parts, int outputs, int groups)
    : parts_(parts),
      outputs_(outputs),
      groups_(groups),
      width_(width_for(parts * outputs)),
      constant_(to_size(parts * outputs)),
      lazy_(to_size(groups), fresh()),
      kernels_(&kernels::fit::table<S>()) {}

template <class S>
typename Weights<S>::Lazy Weights<S>::fresh() const {
  const auto parts = to_size(parts_);
  return {1.0, std::vector<double>(parts, 1.0), std::vector<double>(parts, 0.0)};
}

template <class S>
void Weights<S>::grow(std::int64_t slots) {
  if (slots <= slots_) return;
  const auto needed = to_size(slots) * to_size(width_);
  if (needed > memory_.capacity()) memory_.reserve(std::max(needed, memory_.capacity() + memory_.capacity() / 2));
  memory_.resize(needed);
  if (groups_ > 1) group_of_.resize(to_size(slots));
  slots_ = slots;
  if (has_paces_) use_paces();
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
  lazy_.resize(to_size(groups_), fresh());
  if (groups_ > 1) group_of_.resize(to_size(slots_));
}

template <class S>
void Weights<S>::reshape(int parts, const std::vector<std::vector<double>>& spread) {
  for (std::int64_t i = 0; has_paces_ && i < slots_; ++i) pay(i);
  settle_rows();
  const int old_outputs = outputs_, old_parts = parts_, old_width = width_;
  const auto old = std::move(memory_);
  const std::vector<S> old_constant = std::move(constant_);
  parts_ = parts, outputs_ = static_cast<int>(spread.size()), width_ = width_for(parts * outputs_);
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
  std::fill(lazy_.begin(), lazy_.end(), fresh());
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
void Weights<S>::gather_unpaid(const LearnerRow& row, S* sums) {
  const auto has_paid = [&](const Entry& e) { return pace_[to_size(e.slot)].paid == rounds_; };
  if (!has_paces_ || std::ranges::all_of(row.entries, has_paid)) return gather(row, sums);
  copied_ = row.entries;
  copy_.resize(copied_.size() * to_size(width_));
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    S* const to = copy_.data() + i * to_size(width_);
    std::copy_n(at(copied_[i].slot), width_, to);
    if (!has_paid(copied_[i])) decay_row(copied_[i].slot, to);
    copied_[i].slot = static_cast<std::int32_t>(i);
  }
  gather(row, copied_.data(), copy_.data(), sums);
}

template <class S>
void Weights<S>::finish(const S* sums, S* lanes) const {
  std::copy(constant_.begin(), constant_.end(), lanes);
  for (int g = 0; g < groups_; ++g) {
    const Lazy& lazy = lazy_[to_size(g)];
    const S* of = sums + g * width_;
    for (int c = 0; c < outputs_; ++c) lanes[c] += S(lazy.z) * of[c];
    for (int j = 1; j < parts_; ++j) {
      const S s = S(lazy.s[to_size(j)]), mix = S(lazy.mix[to_size(j)]);
      for (int c = 0; c < outputs_; ++c) lanes[j * outputs_ + c] += s * of[j * outputs_ + c] + mix * of[c];
    }
  }
}

template <class S>
void Weights<S>::scatter(const LearnerRow& row, const S* scales, const S* push, S* scratch) {
  for (int g = 0; g < groups_; ++g) {
    const std::int64_t first = row.first(g), last = row.last(g);
    if (last <= first) continue;
    const Lazy& lazy = lazy_[to_size(g)];
    const S z = S(1 / lazy.z);
    for (int c = 0; c < outputs_; ++c) scratch[c] = z * push[c];
    for (int j = 1; j < parts_; ++j) {
      const S s = S(1 / lazy.s[to_size(j)]), mix = S(lazy.mix[to_size(j)]);
      for (int c = 0; c < outputs_; ++c) scratch[j * outputs_ + c] = s * (push[j * outputs_ + c] - mix * scratch[c]);
    }
    std::fill(scratch + lanes(), scratch + width_, S(0));
    kernels_->scatter(row.entries.data() + first, scales + first, last - first, memory_.data(), width_, scratch);
  }
}

template <class S>
void Weights<S>::decay(int group, double rho, std::span<const double> slopes) {
  Lazy& lazy = lazy_[to_size(group)];
  for (std::size_t j = 1; j < lazy.s.size(); ++j) {
    lazy.mix[j] = rho * lazy.mix[j] + slopes[j] * lazy.z;
    lazy.s[j] *= rho;
  }
  lazy.z *= rho;
}

template <class S>
void Weights<S>::use_paces() {
  has_paces_ = true;
  pace_.resize(to_size(slots_), Pace{1, 0, clock_, rounds_});
}

template <class S>
void Weights<S>::decay_at_paces(double time, const std::vector<Moved>& moved) {
  moved_ = moved;
  ++rounds_;
  clock_ += time;
}

template <class S>
double Weights<S>::due(std::int64_t slot) const {
  constexpr double longest = 40;  // nothing is left then
  const Pace& p = pace_[to_size(slot)];
  return std::min(static_cast<double>(p.owed) + static_cast<double>(p.ratio) * (clock_ - p.since), longest);
}

template <class S>
void Weights<S>::set_pace(std::int64_t slot, float ratio) {
  Pace& pace = pace_[to_size(slot)];
  pace.owed = static_cast<float>(due(slot)), pace.since = clock_, pace.ratio = ratio;
}

template <class S>
void Weights<S>::pay(const LearnerRow& row) {
  if (!has_paces_) return;
  constexpr std::size_t ahead = 8;
  for (std::size_t i = 0; i < row.entries.size(); ++i) {
    if (i + ahead < row.entries.size()) {
      __builtin_prefetch(&pace_[to_size(row.entries[i + ahead].slot)]);
      const S* const next = at(row.entries[i + ahead].slot);
      constexpr int line = static_cast<int>(64 / sizeof(S));
      for (int b = 0; b < width_; b += line) __builtin_prefetch(next + b, 1);
    }
    pay(row.entries[i].slot);
  }
}

template <class S>
void Weights<S>::pay(std::int64_t slot) {
  Pace& pace = pace_[to_size(slot)];
  if (pace.paid == rounds_) return;
  decay_row(slot, at(slot));
  pace.owed = 0, pace.since = clock_, pace.paid = rounds_;
}

template <class S>
void Weights<S>::decay_row(std::int64_t slot, S* row) {
  const double now = due(slot);
  const std::int64_t rounds = rounds_ - pace_[to_size(slot)].paid;
  const Lazy& lazy = lazy_[group_of(slot)];
  std::array<kernels::fit::Moved<S>, most_moved> moved;
  for (std::size_t m = 0; m < moved_.size(); ++m)
    moved[m] = {moved_[m].part, S(-lazy.z / lazy.s[to_size(moved_[m].part)] * kept(m, rounds) * now)};
  kernels_->decay(row, lanes(), outputs_, S(left_after(now)), moved.data(), static_cast<int>(moved_.size()));
}

// Of what was due in equal parts over so many rounds.
template <class S>
double Weights<S>::kept_of(double memory, std::int64_t rounds) {
  if (rounds <= 1 || !(memory < 1)) return 1;
  const auto n = static_cast<double>(rounds);
  return (1 - std::pow(memory, n)) / (n * (1 - memory));
}

// Most features come again soon.
template <class S>
double Weights<S>::kept(std::size_t m, std::int64_t rounds) {
  const double memory = moved_[m].memory;
  constexpr std::int64_t soon = 512;
  if (rounds <= 1 || !(memory < 1) || rounds >= soon) return kept_of(memory, rounds);
  Kept& known = kept_[m];
  if (known.of.empty() || known.memory != memory) {
    known.memory = memory, known.of.clear();
    for (std::int64_t n = 0; n < soon; ++n) known.of.push_back(kept_of(memory, n));
  }
  return known.of[to_size(rounds)];
}

template <class S>
void Weights<S>::scale_derivative(int part, double factor) {
  const auto j = to_size(part);
  for (Lazy& lazy : lazy_) lazy.s[j] *= factor, lazy.mix[j] *= factor;
  for (int c = 0; c < outputs_; ++c) constant_[to_size(part * outputs_ + c)] *= S(factor);
}

template <class S>
void Weights<S>::forget_derivative(int part) {
  const auto j = to_size(part);
  for (Lazy& lazy : lazy_) lazy.s[j] = 1, lazy.mix[j] = 0;
  for (int c = 0; c < outputs_; ++c) {
    for (std::int64_t i = 0; i < slots_; ++i) at(i)[part * outputs_ + c] = S(0);
    constant_[to_size(part * outputs_ + c)] = S(0);
  }
}

// Between these bounds neither ẑ nor ŝ loses digits to its factor.
template <class S>
void Weights<S>::settle() {
  constexpr double small = 0x1p-16, large = 0x1p16;
  for (const Lazy& lazy : lazy_) {
    bool off = !(lazy.z > small);
    for (std::size_t j = 1; j < lazy.s.size(); ++j)
      off = off || !(std::abs(lazy.s[j]) > small) || std::abs(lazy.mix[j]) > large * lazy.z;
    if (off) return settle_rows();
  }
}

template <class S>
void Weights<S>::settle_rows() {
  for (std::int64_t i = 0; i < slots_; ++i) {
    const Lazy& lazy = lazy_[group_of(i)];
    S* row = at(i);
    for (int j = parts_ - 1; j > 0; --j) {
      const S s = S(lazy.s[to_size(j)]), mix = S(lazy.mix[to_size(j)]);
      for (int c = 0; c < outputs_; ++c) row[j * outputs_ + c] = s * row[j * outputs_ + c] + mix * row[c];
    }
    for (int c = 0; c < outputs_; ++c) row[c] *= S(lazy.z);
  }
  std::fill(lazy_.begin(), lazy_.end(), fresh());
}

template <class S>
double Weights<S>::number(std::int64_t slot, int part, int output) const {
  const Lazy& lazy = lazy_[group_of(slot)];
  const S* row = at(slot);
  const double now = has_paces_ ? due(slot) : 0.0, left = has_paces_ ? std::exp(-now) : 1.0,
               z = left * lazy.z * static_cast<double>(row[output]);
  if (part == 0) return z;
  const auto j = to_size(part);
  double sum = left * (lazy.s[j] * static_cast<double>(row[part * outputs_ + output]) +
                       lazy.mix[j] * static_cast<double>(row[output]));
  for (const Moved& m : moved_)
    if (has_paces_ && m.part == part) sum -= kept_of(m.memory, rounds_ - pace_[to_size(slot)].paid) * now * z;
  return sum;
}

template <class S>
void Weights<S>::Lazy::fields(Archive& a) {
  a("z", z), saved(a, "s", s), saved(a, "mix", mix);
}

template <class S>
void Weights<S>::fields(Archive& a) {
  a("parts", parts_), a("outputs", outputs_), a("groups", groups_), a("slots", slots_);
  constexpr int max = 1 << 24;  // of each, so that no product of theirs is too large
  if (parts_ < 1 || parts_ > max || outputs_ < 1 || outputs_ > max / parts_ || groups_ < 1 || slots_ < 0 ||
      slots_ > std::int64_t{1} << 31)
    throw DataError("saved state: the sizes of the weights do not fit together");
  if (a.loading()) width_ = width_for(parts_ * outputs_);
  saved(a, "memory", memory_), saved(a, "group_of", group_of_), saved(a, "constant", constant_);
  saved_list(a, "lazy", lazy_), saved_list(a, "moved", moved_, most_moved);
  if (has_paces_) a("clock", clock_), a("rounds", rounds_), saved(a, "paces", pace_);
  const auto is = [](std::size_t got, std::int64_t expected) { return got == static_cast<std::uint64_t>(expected); };
  const auto paced = [&](const Pace& p) {
    return p.ratio > 0 && std::isfinite(p.ratio) && p.owed >= 0 && p.since <= clock_ && p.paid >= 0 &&
           p.paid <= rounds_;
  };
  const auto sound = [&](const Lazy& l) { return is(l.s.size(), parts_) && is(l.mix.size(), parts_) && l.z > 0; };
  if (!is(memory_.size(), slots_ * width_) || !is(constant_.size(), lanes()) || !is(lazy_.size(), groups_) ||
      !std::ranges::all_of(lazy_, sound) || !is(pace_.size(), has_paces_ ? slots_ : 0) ||
      !std::ranges::all_of(pace_, paced) ||
      std::ranges::any_of(moved_, [&](const Moved& m) { return m.part < 1 || m.part >= parts_; }) ||
      !is(group_of_.size(), groups_ > 1 ? slots_ : 0) ||
      std::ranges::any_of(group_of_, [&](std::uint16_t g) { return g > groups_; }))
    throw DataError("saved state: the sizes of the weights do not fit together");
}

template <class S>
void Weights<S>::model_fields(Archive& a) {
  int outputs = outputs_;
  std::int64_t slots = slots_;
  std::vector<S> weights, constant(constant_.begin(), constant_.begin() + outputs_);
  weights.reserve(a.loading() ? 0 : to_size(slots_ * outputs_));
  for (std::int64_t i = 0; !a.loading() && i < slots_; ++i)
    for (int c = 0; c < outputs_; ++c) weights.push_back(static_cast<S>(number(i, 0, c)));
  a("outputs", outputs), a("slots", slots), saved(a, "weights", weights), saved(a, "constant", constant);
  saved(a, "group_of", group_of_);
  std::vector<float> paces;
  for (const Pace& p : pace_) paces.push_back(p.ratio);
  if (has_paces_) saved(a, "paces", paces);
  if (!a.loading()) return;
  const auto is = [](std::size_t got, std::int64_t expected) { return got == static_cast<std::uint64_t>(expected); };
  constexpr int max_outputs = 1 << 16;
  if (outputs < 1 || outputs > max_outputs || slots < 0 || slots > static_cast<std::int64_t>(weights.size()) ||
      !is(weights.size(), slots * outputs) || !is(constant.size(), outputs) ||
      !is(group_of_.size(), groups_ > 1 ? slots : 0) || !is(paces.size(), has_paces_ ? slots : 0) ||
      std::ranges::any_of(group_of_, [&](std::uint16_t g) { return g > groups_; }))
    throw DataError("saved state: the sizes of the weights do not fit together");
  const bool had_paces = has_paces_;
  std::vector<std::uint16_t> group_of = std::move(group_of_);
  *this = Weights(parts_, outputs, groups_);
  has_paces_ = had_paces;
  grow(slots);
  for (std::size_t i = 0; i < paces.size(); ++i) pace_[i].ratio = paces[i];
  group_of_ = std::move(group_of);
  for (std::int64_t i = 0; i < slots; ++i) std::copy_n(weights.data() + i * outputs, outputs, at(i));
  std::ranges::copy(constant, constant_.begin());
}

template class Weights<float>;
template class Weights<double>;

}  // namespace obolus::fit
