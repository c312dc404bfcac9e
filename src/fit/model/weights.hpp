// The weights of a linear model and their derivatives by hyperparameters, one row of memory per feature. Decay is
// lazy: of all weights of a group by its factors (group_decay.hpp), of single features by a clock
// (feature_decay.hpp). The weights of the constant feature do not decay; they are stored as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/model/feature_decay.hpp"
#include "fit/model/group_decay.hpp"
#include "fit/model/learner_row.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

struct Reach {
  std::int32_t first, last;
};

// `count` rows x by feature: its slot, its scale P, which rows may have it, and a line of `stride` values, one per row;
// `total` has the lanes of every row.
template <class S>
struct LearntRows {
  const std::vector<std::int32_t>& slots;
  const std::vector<S>& scales;
  const std::vector<Reach>& reaches;
  const S* lines;
  int stride, count;
  const S* total;
};

template <class S>
class Weights {
 public:
  // A row's weights after decay that is pending.
  struct Decayed {
    std::vector<S, LineAllocator<S>> memory;
    std::vector<Entry> entries;  // with their places there
  };

  Weights(int parts, int outputs, int groups);

  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] int outputs() const { return outputs_; }
  [[nodiscard]] int groups() const { return groups_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int lanes() const { return parts_ * outputs_; }
  [[nodiscard]] std::int64_t slots() const { return slots_; }

  void grow(std::int64_t slots);
  // The group it is in from now on: the one it was given first, whatever shares the slot. 0 until then.
  int set_group(std::int64_t slot, int group);
  [[nodiscard]] int group(std::int64_t slot) const { return static_cast<int>(group_of(slot)); }
  void grow_groups(int groups);
  // More parts, and other outputs: new output c takes spread[c][k] of each old one k. New parts are 0.
  void reshape(int parts, const std::vector<std::vector<double>>& spread);

  // Σ value² of a feature.
  [[nodiscard]] S& squares(std::int64_t slot) { return at(slot)[width_ - 1]; }

  // Sums over a row's features as they are stored; sums: groups × width.
  void gather(const LearnerRow& row, S* sums) const;
  // The same after pending decay has been applied to them.
  void decay_and_gather(const LearnerRow& row, S* sums);
  // And with everything left as it is.
  void gather_decayed(const LearnerRow& row, S* sums, Decayed& scratch) const;
  // What such sums stand for, the constant included; lanes: one number per part and output.
  void combine(const S* sums, S* lanes) const;
  // z ← z − P Σ_k x_k total_k, the same for every s_j.
  void absorb(const LearntRows<S>& learnt);
  [[nodiscard]] std::vector<S>& constant() { return constant_; }
  [[nodiscard]] const std::vector<S>& constant() const { return constant_; }

  // slopes: dρ/dθ_j for j = 1 … parts − 1
  void decay_group(int group, double rho, std::span<const double> slopes) {
    group_decay_[to_size(group)].decay(rho, slopes);
  }
  void scale_derivative(int part, double factor);  // > 0
  void forget_derivative(int part);
  // Applies the groups' factors to the rows where one has become too small or too large.
  void renormalise();

  // Every feature decays at a pace of its own from now on: its ratio, 1 at first, times the time of a round.
  void use_feature_decay() { feature_decay_.use(slots_); }
  void decay_features(double time, const std::vector<DecayDerivative>& derivatives) {
    feature_decay_.advance(time, derivatives);
  }
  void set_decay_ratio(std::int64_t slot, float ratio) { feature_decay_.set_ratio(slot, ratio); }
  [[nodiscard]] float decay_ratio(std::int64_t slot) const { return feature_decay_.ratio(slot); }
  // Σ_c z_ic by_c of a feature without pending decay; `by` has product_width() numbers, 0 beyond the outputs.
  [[nodiscard]] S product(std::int64_t slot, const S* by) const {
    return S(group_decay_[group_of(slot)].z) * kernels_->product(at(slot), by, product_width());
  }
  [[nodiscard]] int product_width() const { return (outputs_ + 3) / 4 * 4; }

  // A weight (part 0) or a derivative as it stands.
  [[nodiscard]] double value(std::int64_t slot, int part, int output) const;

  void fields(Archive& a);
  // The weights alone, as they stand; loading makes derivatives 0.
  void model_fields(Archive& a);

 private:
  [[nodiscard]] S* at(std::int64_t slot) { return memory_.data() + to_size(slot) * to_size(width_); }
  [[nodiscard]] const S* at(std::int64_t slot) const { return memory_.data() + to_size(slot) * to_size(width_); }
  [[nodiscard]] std::size_t group_of(std::int64_t slot) const {
    return group_of_.empty() ? 0 : std::max<std::size_t>(group_of_[to_size(slot)], 1) - 1;
  }
  void prefetch(std::int64_t slot) const {
    constexpr int line = static_cast<int>(64 / sizeof(S));
    for (int b = 0; b < width_; b += line) __builtin_prefetch(at(slot) + b, 1);
  }
  void apply_group_decay();
  void apply_pending_decay(std::int64_t slot);
  void decay_row(std::int64_t slot, S* row) const;  // by what is pending
  void gather(const LearnerRow& row, const Entry* entries, const S* memory, S* sums) const;
  [[nodiscard]] bool has_sound_groups(std::int64_t slots) const;

  int parts_, outputs_, groups_, width_;
  std::int64_t slots_ = 0;
  std::vector<S, LineAllocator<S>> memory_;  // slots × width: lanes, …, Σ value²
  // Of every slot, counted from 1, where there is more than one group; 0: not given yet.
  std::vector<std::uint16_t> group_of_;
  std::vector<S> constant_;
  std::vector<GroupDecay> group_decay_;
  FeatureDecay feature_decay_;
  std::vector<S, LineAllocator<S>> pushes_;  // scratch of absorb()
  std::vector<S> push_;
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class Weights<float>;
extern template class Weights<double>;

}  // namespace obolus::fit
