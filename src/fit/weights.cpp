#include "fit/weights.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fit/saved_vectors.hpp"

namespace obolus::fit {
namespace {

// Packs of every width are aligned then.
int width_for(int lanes) {
  if (lanes < 4) return 4;
  if (lanes < 8) return 8;
  return (lanes + 1 + kernels::fit_rows_unit - 1) / kernels::fit_rows_unit * kernels::fit_rows_unit;
}

}  // namespace

template <class S>
Weights<S>::Weights(int parts, int outputs, int groups)
    : parts_(parts),
      outputs_(outputs),
      groups_(groups),
      width_(width_for(parts * outputs)),
      constant_(static_cast<std::size_t>(parts * outputs)),
      lazy_(static_cast<std::size_t>(groups), fresh()),
      kernels_(&kernels::fit_kernels<S>()) {}

template <class S>
typename Weights<S>::Lazy Weights<S>::fresh() const {
  const auto parts = static_cast<std::size_t>(parts_);
  return {1.0, std::vector<double>(parts, 1.0), std::vector<double>(parts, 0.0)};
}

template <class S>
void Weights<S>::grow(std::int64_t slots) {
  if (slots <= slots_) return;
  const auto needed = static_cast<std::size_t>(slots) * static_cast<std::size_t>(width_);
  if (needed > memory_.capacity()) memory_.reserve(std::max(needed, memory_.capacity() + memory_.capacity() / 2));
  memory_.resize(needed);
  if (groups_ > 1) group_of_.resize(static_cast<std::size_t>(slots));
  slots_ = slots;
}

template <class S>
int Weights<S>::set_group(std::int64_t slot, int group) {
  if (groups_ == 1) return 0;
  std::uint16_t& of = group_of_[static_cast<std::size_t>(slot)];
  if (of == 0) of = static_cast<std::uint16_t>(group + 1);
  return of - 1;
}

template <class S>
void Weights<S>::grow_groups(int groups) {
  groups_ = std::max(groups_, groups);
  lazy_.resize(static_cast<std::size_t>(groups_), fresh());
  if (groups_ > 1) group_of_.resize(static_cast<std::size_t>(slots_));
}

template <class S>
void Weights<S>::reshape(int parts, const std::vector<std::vector<double>>& spread) {
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
          sum += spread[static_cast<std::size_t>(c)][static_cast<std::size_t>(k)] *
                 static_cast<double>(from[j * old_outputs + k]);
        to[j * outputs_ + c] = static_cast<S>(sum);
      }
  };
  memory_ = {};
  const std::int64_t slots = slots_;
  slots_ = 0;
  grow(slots);
  for (std::int64_t i = 0; i < slots; ++i) {
    const S* from = old.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(old_width);
    move(from, at(i));
    squares(i) = from[old_width - 1];
  }
  constant_.assign(static_cast<std::size_t>(lanes()), S(0));
  move(old_constant.data(), constant_.data());
  std::fill(lazy_.begin(), lazy_.end(), fresh());
}

template <class S>
void Weights<S>::gather(const LearnerRow& row, S* sums) const {
  std::fill(sums, sums + groups_ * width_, S(0));
  for (int g = 0; g < groups_; ++g)
    if (const std::int64_t first = row.first(g), last = row.last(g); last > first)
      kernels_->gather(row.entries.data() + first, last - first, memory_.data(), width_, sums + g * width_);
}

template <class S>
void Weights<S>::finish(const S* sums, S* lanes) const {
  std::copy(constant_.begin(), constant_.end(), lanes);
  for (int g = 0; g < groups_; ++g) {
    const Lazy& lazy = lazy_[static_cast<std::size_t>(g)];
    const S* of = sums + g * width_;
    for (int c = 0; c < outputs_; ++c) lanes[c] += S(lazy.z) * of[c];
    for (int j = 1; j < parts_; ++j) {
      const S s = S(lazy.s[static_cast<std::size_t>(j)]), mix = S(lazy.mix[static_cast<std::size_t>(j)]);
      for (int c = 0; c < outputs_; ++c) lanes[j * outputs_ + c] += s * of[j * outputs_ + c] + mix * of[c];
    }
  }
}

template <class S>
void Weights<S>::scatter(const LearnerRow& row, const S* scales, const S* push, S* scratch) {
  for (int g = 0; g < groups_; ++g) {
    const std::int64_t first = row.first(g), last = row.last(g);
    if (last <= first) continue;
    const Lazy& lazy = lazy_[static_cast<std::size_t>(g)];
    const S z = S(1 / lazy.z);
    for (int c = 0; c < outputs_; ++c) scratch[c] = z * push[c];
    for (int j = 1; j < parts_; ++j) {
      const S s = S(1 / lazy.s[static_cast<std::size_t>(j)]), mix = S(lazy.mix[static_cast<std::size_t>(j)]);
      for (int c = 0; c < outputs_; ++c) scratch[j * outputs_ + c] = s * (push[j * outputs_ + c] - mix * scratch[c]);
    }
    std::fill(scratch + lanes(), scratch + width_, S(0));
    kernels_->scatter(row.entries.data() + first, scales + first, last - first, memory_.data(), width_, scratch);
  }
}

template <class S>
void Weights<S>::decay(int group, double rho, std::span<const double> slopes) {
  Lazy& lazy = lazy_[static_cast<std::size_t>(group)];
  for (std::size_t j = 1; j < lazy.s.size(); ++j) {
    lazy.mix[j] = rho * lazy.mix[j] + slopes[j] * lazy.z;
    lazy.s[j] *= rho;
  }
  lazy.z *= rho;
}

template <class S>
void Weights<S>::scale_derivative(int part, double factor) {
  const auto j = static_cast<std::size_t>(part);
  for (Lazy& lazy : lazy_) lazy.s[j] *= factor, lazy.mix[j] *= factor;
  for (int c = 0; c < outputs_; ++c) constant_[static_cast<std::size_t>(part * outputs_ + c)] *= S(factor);
}

template <class S>
void Weights<S>::forget_derivative(int part) {
  const auto j = static_cast<std::size_t>(part);
  for (Lazy& lazy : lazy_) lazy.s[j] = 1, lazy.mix[j] = 0;
  for (int c = 0; c < outputs_; ++c) {
    for (std::int64_t i = 0; i < slots_; ++i) at(i)[part * outputs_ + c] = S(0);
    constant_[static_cast<std::size_t>(part * outputs_ + c)] = S(0);
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
      const S s = S(lazy.s[static_cast<std::size_t>(j)]), mix = S(lazy.mix[static_cast<std::size_t>(j)]);
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
  if (part == 0) return lazy.z * static_cast<double>(row[output]);
  const auto j = static_cast<std::size_t>(part);
  return lazy.s[j] * static_cast<double>(row[part * outputs_ + output]) +
         lazy.mix[j] * static_cast<double>(row[output]);
}

template <class S>
void Weights<S>::Lazy::fields(Archive& a) {
  a("z", z), saved(a, "s", s), saved(a, "mix", mix);
}

template <class S>
void Weights<S>::fields(Archive& a) {
  a("parts", parts_), a("outputs", outputs_), a("groups", groups_), a("slots", slots_);
  constexpr int most = 1 << 24;  // of each, so that no product of theirs is too large
  if (parts_ < 1 || parts_ > most || outputs_ < 1 || outputs_ > most / parts_ || groups_ < 1 || slots_ < 0 ||
      slots_ > std::int64_t{1} << 31)
    throw DataError("saved state: the sizes of the weights do not fit together");
  if (a.loading()) width_ = width_for(parts_ * outputs_);
  saved(a, "memory", memory_), saved(a, "group_of", group_of_), saved(a, "constant", constant_);
  saved_list(a, "lazy", lazy_);
  const auto is = [](std::size_t got, std::int64_t expected) { return got == static_cast<std::uint64_t>(expected); };
  const auto sound = [&](const Lazy& l) { return is(l.s.size(), parts_) && is(l.mix.size(), parts_) && l.z > 0; };
  if (!is(memory_.size(), slots_ * width_) || !is(constant_.size(), lanes()) || !is(lazy_.size(), groups_) ||
      !std::ranges::all_of(lazy_, sound) || !is(group_of_.size(), groups_ > 1 ? slots_ : 0) ||
      std::ranges::any_of(group_of_, [&](std::uint16_t g) { return g > groups_; }))
    throw DataError("saved state: the sizes of the weights do not fit together");
}

template <class S>
void Weights<S>::model_fields(Archive& a) {
  int outputs = outputs_;
  std::int64_t slots = slots_;
  std::vector<S> weights, constant(constant_.begin(), constant_.begin() + outputs_);
  weights.reserve(a.loading() ? 0 : static_cast<std::size_t>(slots_ * outputs_));
  for (std::int64_t i = 0; !a.loading() && i < slots_; ++i)
    for (int c = 0; c < outputs_; ++c) weights.push_back(static_cast<S>(number(i, 0, c)));
  a("outputs", outputs), a("slots", slots), saved(a, "weights", weights), saved(a, "constant", constant);
  saved(a, "group_of", group_of_);
  if (!a.loading()) return;
  const auto is = [](std::size_t got, std::int64_t expected) { return got == static_cast<std::uint64_t>(expected); };
  constexpr int most_outputs = 1 << 16;
  if (outputs < 1 || outputs > most_outputs || slots < 0 || slots > static_cast<std::int64_t>(weights.size()) ||
      !is(weights.size(), slots * outputs) || !is(constant.size(), outputs) ||
      !is(group_of_.size(), groups_ > 1 ? slots : 0) ||
      std::ranges::any_of(group_of_, [&](std::uint16_t g) { return g > groups_; }))
    throw DataError("saved state: the sizes of the weights do not fit together");
  std::vector<std::uint16_t> group_of = std::move(group_of_);
  *this = Weights(parts_, outputs, groups_);
  grow(slots);
  group_of_ = std::move(group_of);
  for (std::int64_t i = 0; i < slots; ++i) std::copy_n(weights.data() + i * outputs, outputs, at(i));
  std::ranges::copy(constant, constant_.begin());
}

template class Weights<float>;
template class Weights<double>;

}  // namespace obolus::fit
