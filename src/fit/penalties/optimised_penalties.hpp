// An L2 penalty for every feature, moved by any registered optimiser.
//
// In the learner's units, y_i = z_i/σ_i with σ_i = √(P_i/L), a round is the bilevel problem
//     f(y) = mean CE of the newest rows, logits over the temperature,
//     g(x, y) = mean CE of earlier rows + ½ Σ x_i |y_i|²,
// which is `softmax_l2` on rows whose values are multiplied by σ. The optimiser has iterates of its own, and only x
// is taken from it: the learner decays z_i by exp(−K rate x_i) per round. Where the learner tunes l2, the level of
// all, only the ratios are taken. σ is fixed while an optimiser is at work, and the learner's rate is its α. When as
// many rounds have passed again as before it was opened, or when there are more classes or features than it has room
// for, another one is opened, from the learner's weights and the penalties so far.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fit/model/learner_row.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/types.hpp"

namespace obolus::fit {

struct OptimisedPenaltyOptions {
  std::string optimiser = "f2obo", settings = {};  // "key=value,…"
  double low = 1e-8, high = 0.3;                   // bounds of the penalties
  bool centred = false;                            // the ratios' geometric mean is 1: the learner tunes l2
  double step = 0.05, shrinkage = 0.001;           // of the logarithms; part of the way to their mean
  std::int64_t steps = 8;                          // K
  std::uint64_t seed = 1;
};

class OptimisedPenalties {
 public:
  // Throws ConfigError for an unknown optimiser or setting.
  explicit OptimisedPenalties(const OptimisedPenaltyOptions& options);
  OptimisedPenalties(OptimisedPenalties&&) noexcept;
  OptimisedPenalties& operator=(OptimisedPenalties&&) noexcept;
  ~OptimisedPenalties();

  // What the optimiser needs to know of the learner.
  struct Learnt {
    std::int64_t round = 0, slots = 0;
    int classes = 0;
    double rate = 1, l2 = 1, curvature = 1, temperature = 1;
    std::function<double(std::int64_t slot)> scale;               // P
    std::function<double(std::int64_t slot, int output)> weight;  // z
    std::function<float(std::int64_t slot)> ratio;                // of its penalty to l2
    std::function<double(int output)> constant;
  };
  using Rows = RowPointers;
  // One step of the optimiser. False: what came out is not finite.
  bool round(const Rows& inner, const Rows& outer, const Learnt& learnt);

  // By slot, if the last round gave any: a feature's penalty is this times the learner's l2.
  [[nodiscard]] std::span<const float> ratios() const { return ratio_; }

  void fields(Archive& a, std::int64_t slots, int classes);

 private:
  struct Work;  // the problem and the optimiser that works on it
  void open(const Learnt& learnt);
  void start(Vector<float>& x, const Vector<float>& y);
  void add(const LearnerRow& row, double factor, const Learnt& learnt);

  OptimisedPenaltyOptions options_;
  std::vector<float> ratio_;
  std::int64_t opened_ = 0, times_ = 0;  // the round in which the optimiser was opened, and how many were
  double alpha_ = 0, level_ = 0;         // the learner's rate and l2 then
  std::unique_ptr<Work> work_;
  std::vector<std::pair<std::int32_t, float>> entries_;  // scratch
};

}  // namespace obolus::fit
