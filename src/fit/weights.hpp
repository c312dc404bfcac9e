// The weights of a linear model, and their derivatives by hyperparameters, so that a decay of all of them costs one multiplication.
//
// Feature i of group g has z_i = z_g ẑ_i and s_ji = s_gj ŝ_ji + mix_gj ẑ_i, where ẑ and ŝ are in memory and z_g, s_gj, mix_gj are numbers
// of the group. A decay z ← ρz with derivative dρ/dθ_j changes these alone:
//     mix_gj ← ρ mix_gj + (dρ/dθ_j) z_g,   z_g ← ρ z_g,   s_gj ← ρ s_gj.
// The weights of the constant feature do not decay; they stand apart, as they are.
//
// Where features decay at paces of their own, feature i by exp(−ratio_i time), a clock counts the time, and what is due is paid when a row needs
// the feature: ẑ ← e^−due ẑ, and the derivatives by the logarithms of what the time is a multiple of have −due times that; where they fade by m a
// round, (1 − m^n)/(n − nm) of it after n rounds, as if it had been due in equal parts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/rows.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
class Weights {
 public:
  Weights(int parts, int outputs, int groups);

  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] int outputs() const { return outputs_; }
  [[nodiscard]] int groups() const { return groups_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int lanes() const { return parts_ * outputs_; }
  [[nodiscard]] std::int64_t slots() const { return slots_; }

  void grow(std::int64_t slots);
  // The group it is in from now on: that which it was given first, whoever shares the slot. 0 until then.
  int set_group(std::int64_t slot, int group);
  [[nodiscard]] int group(std::int64_t slot) const { return static_cast<int>(group_of(slot)); }
  void grow_groups(int groups);
  // More parts, and other outputs: new output c takes spread[c][k] of each old one k. New parts are 0.
  void reshape(int parts, const std::vector<std::vector<double>>& spread);

  // Σ value², of a feature.
  [[nodiscard]] S& squares(std::int64_t slot) { return at(slot)[width_ - 1]; }

  // sums: groups × width; true_sums: lanes
  void gather(const LearnerRow& row, S* sums) const;
  void finish(const S* sums, S* lanes) const;
  // z ← z + Σ value · scale · push, the same for every s_j: `push` has a number for every lane, and is as it should be seen;
  // `scales` goes with the row's entries, `scratch` has width numbers.
  void scatter(const LearnerRow& row, const S* scales, const S* push, S* scratch);
  [[nodiscard]] std::vector<S>& constant() { return constant_; }
  [[nodiscard]] const std::vector<S>& constant() const { return constant_; }

  // slopes: dρ/dθ_j for j = 1 … parts − 1
  void decay(int group, double rho, std::span<const double> slopes);
  // Every feature at its own pace from now on, 1 at first.
  void use_paces();
  // A part that is a derivative by ln of a factor of the time, and what is kept of it from round to round.
  struct Moved {
    std::int32_t part = 0;
    double memory = 1;
    void fields(Archive& a) { a("part", part), a("memory", memory); }
  };
  // A round of it.
  void decay_at_paces(double time, const std::vector<Moved>& moved);
  void pay(const LearnerRow& row);  // before gather()
  // What that would give after pay(), with everything left as it is.
  void gather_unpaid(const LearnerRow& row, S* sums);
  void set_pace(std::int64_t slot, float ratio);
  [[nodiscard]] float pace(std::int64_t slot) const { return pace_[to_size(slot)].ratio; }
  // Σ_c z_ic by_c, of a feature that has paid; `by` has product_width() numbers, 0 beyond the outputs.
  [[nodiscard]] S product(std::int64_t slot, const S* by) const {
    return S(lazy_[group_of(slot)].z) * kernels_->product(at(slot), by, product_width());
  }
  [[nodiscard]] int product_width() const { return (outputs_ + 3) / 4 * 4; }
  void scale_derivative(int part, double factor);  // > 0
  void forget_derivative(int part);
  // Puts the groups' numbers into the rows where they have become small or large.
  void settle();

  [[nodiscard]] double number(std::int64_t slot, int part, int output) const;

  void fields(Archive& a);
  // The weights alone, as they stand; loading makes derivatives 0.
  void model_fields(Archive& a);

 private:
  struct Lazy {
    double z = 1;
    std::vector<double> s, mix;  // by part; the first of each is not used
    void fields(Archive& a);
  };
  [[nodiscard]] S* at(std::int64_t slot) { return memory_.data() + to_size(slot) * to_size(width_); }
  [[nodiscard]] const S* at(std::int64_t slot) const { return memory_.data() + to_size(slot) * to_size(width_); }
  [[nodiscard]] std::size_t group_of(std::int64_t slot) const {
    return group_of_.empty() ? 0 : std::max<std::size_t>(group_of_[to_size(slot)], 1) - 1;
  }
  [[nodiscard]] Lazy fresh() const;
  void settle_rows();
  struct Pace {
    float ratio = 1, owed = 0;  // from before `since`
    double since = 0;
    std::int64_t paid = 0;  // round
  };
  static constexpr std::size_t most_moved = 2;  // learning rate and L2
  [[nodiscard]] double due(std::int64_t slot) const;
  [[nodiscard]] static double kept_of(double memory, std::int64_t rounds);
  [[nodiscard]] double kept(std::size_t m, std::int64_t rounds);  // the same, of moved_[m]
  void pay(std::int64_t slot);
  void decay_row(std::int64_t slot, S* row);  // by what is due
  void gather(const LearnerRow& row, const Entry* entries, const S* memory, S* sums) const;

  int parts_, outputs_, groups_, width_;
  std::int64_t slots_ = 0;
  std::vector<S, LineAllocator<S>> memory_;  // slots × width: lanes, …, Σ value²
  std::vector<std::uint16_t>
      group_of_;  // of every slot, counted from 1, where there is more than one group; 0: not given yet
  std::vector<S> constant_;
  std::vector<Lazy> lazy_;
  bool has_paces_ = false;
  double clock_ = 0;
  std::int64_t rounds_ = 0;
  std::vector<Pace> pace_;  // by slot
  std::vector<Moved> moved_;
  struct Kept {
    double memory = 1;
    std::vector<double> of;  // by rounds
  };
  std::array<Kept, most_moved> kept_;
  std::vector<S, LineAllocator<S>> copy_;  // scratch of gather_unpaid()
  std::vector<Entry> copied_;
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class Weights<float>;
extern template class Weights<double>;

}  // namespace obolus::fit
