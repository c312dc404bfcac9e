// The decay of every feature at a pace of its own, feature i by exp(−ratio_i time): a clock counts the time, and what
// is pending is applied when a row needs the feature. With ẑ ← e^−pending ẑ, the derivatives by the logarithms of
// what the time is a multiple of get −pending times that; where such a derivative fades by m per round, (1 − m^n)/(n
// − nm) of it after n rounds, as if the decay had been due in equal parts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

// A part that is a derivative by ln of a factor of the time, and how much of it is kept from round to round.
struct DecayDerivative {
  std::int32_t part = 0;
  double memory = 1;
  void fields(Archive& a) {
    a("part", part);
    a("memory", memory);
  }
};

class FeatureDecay {
 public:
  static constexpr std::size_t max_derivatives = 2;  // learning rate and L2

  [[nodiscard]] bool in_use() const { return in_use_; }
  void use(std::int64_t slots) {
    in_use_ = true;
    grow(slots);
  }
  // New features have a ratio of 1 from now on.
  void grow(std::int64_t slots) {
    if (in_use_) feature_.resize(to_size(slots), Feature{1, 0, clock_, rounds_});
  }

  // One round of this length.
  void advance(double time, const std::vector<DecayDerivative>& derivatives) {
    derivatives_ = derivatives;
    for (std::size_t m = 0; m < derivatives_.size(); ++m)
      if (table_[m].memory != derivatives_[m].memory) fill(table_[m], derivatives_[m].memory);
    ++rounds_;
    clock_ += time;
  }

  [[nodiscard]] float ratio(std::int64_t slot) const { return feature_[to_size(slot)].ratio; }
  void set_ratio(std::int64_t slot, float ratio) {
    Feature& f = feature_[to_size(slot)];
    f.carried = static_cast<float>(pending(slot));
    f.since = clock_;
    f.ratio = ratio;
  }

  [[nodiscard]] double pending(std::int64_t slot) const {
    constexpr double max = 40;  // nothing is left then
    const Feature& f = feature_[to_size(slot)];
    return std::min(static_cast<double>(f.carried) + static_cast<double>(f.ratio) * (clock_ - f.since), max);
  }
  [[nodiscard]] bool is_applied(std::int64_t slot) const { return feature_[to_size(slot)].applied == rounds_; }
  void set_applied(std::int64_t slot) {
    Feature& f = feature_[to_size(slot)];
    f.carried = 0;
    f.since = clock_;
    f.applied = rounds_;
  }
  void prefetch(std::int64_t slot) const { __builtin_prefetch(&feature_[to_size(slot)]); }

  [[nodiscard]] const std::vector<DecayDerivative>& derivatives() const { return derivatives_; }
  // How much of the pending decay derivative m has not forgotten.
  [[nodiscard]] double kept(std::size_t m, std::int64_t slot) const {
    const double memory = derivatives_[m].memory;
    const std::int64_t rounds = rounds_ - feature_[to_size(slot)].applied;
    if (rounds <= 1 || !(memory < 1)) return 1;
    const KeptTable& table = table_[m];
    return rounds < soon && table.memory == memory ? table.by_rounds[to_size(rounds)] : kept_after(memory, rounds);
  }

  void derivative_fields(Archive& a);
  void clock_fields(Archive& a);
  [[nodiscard]] bool is_sound(std::int64_t slots, int parts) const;
  // What a model file holds.
  [[nodiscard]] std::vector<float> ratios() const;
  void set_ratios(const std::vector<float>& ratios);

 private:
  // As it stands in checkpoints.
  struct Feature {
    float ratio = 1, carried = 0;  // pending from before `since`, when the ratio was another
    double since = 0;
    std::int64_t applied = 0;  // round
  };
  // Most features come again soon: those numbers are computed once for a memory below 1.
  static constexpr std::int64_t soon = 512;
  struct KeptTable {
    double memory = 1;
    std::vector<double> by_rounds;
  };
  static void fill(KeptTable& table, double memory);
  [[nodiscard]] static double kept_after(double memory, std::int64_t rounds);

  bool in_use_ = false;
  double clock_ = 0;
  std::int64_t rounds_ = 0;
  std::vector<Feature> feature_;  // by slot
  std::vector<DecayDerivative> derivatives_;
  std::array<KeptTable, max_derivatives> table_;
};

}  // namespace obolus::fit
