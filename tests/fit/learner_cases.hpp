// Learners to compare: losses, what is tuned, and rows for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "fit/learner/learner.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::test {

struct LearnerCase {
  std::string name;
  int classes = 2;  // 0: numbers
  bool softmax = false;
  int groups = 1;
  bool class_tuning = false, weighted = false, balanced = false;
  int hold_out = 0;
  std::int64_t replay = 4, buffer = 40;
  double power = 0.5;
  bool decayed = false;
  bool penalties = false;  // an L2 for every feature
};

inline std::ostream& operator<<(std::ostream& out, const LearnerCase& c) { return out << c.name; }

inline std::vector<LearnerCase> learner_cases() {
  return {
      {.name = "Logistic"},
      {.name = "LogisticWithoutReplay", .replay = 0},
      {.name = "LogisticOfThreeGroups", .groups = 3, .weighted = true},
      {.name = "LogisticHoldingOut", .weighted = true, .hold_out = 3, .power = 0.8},
      {.name = "SoftmaxOfTwo", .softmax = true},
      {.name = "SoftmaxOfTwoShifted", .softmax = true, .class_tuning = true, .hold_out = 4},
      {.name = "SoftmaxOfFive", .classes = 5, .balanced = true},
      {.name = "SoftmaxOfFiveInThreeGroups", .classes = 5, .groups = 3, .hold_out = 3, .decayed = true},
      {.name = "SoftmaxOfFiveShifted", .classes = 5, .groups = 3, .class_tuning = true, .weighted = true, .power = 0.0},
      {.name = "Numbers", .classes = 0},
      {.name = "NumbersOfThreeGroups", .classes = 0, .groups = 3, .weighted = true, .hold_out = 3},
  };
}

inline std::vector<LearnerCase> learner_cases_with_penalties() {
  return {
      {.name = "Logistic", .penalties = true},
      {.name = "LogisticHoldingOut", .weighted = true, .hold_out = 3, .power = 0.8, .penalties = true},
      {.name = "SoftmaxOfTwo", .softmax = true, .class_tuning = true, .penalties = true},
      {.name = "SoftmaxOfFive", .classes = 5, .weighted = true, .balanced = true, .penalties = true},
      {.name = "SoftmaxOfFiveHoldingOut", .classes = 5, .hold_out = 3, .decayed = true, .penalties = true},
      {.name = "Numbers", .classes = 0, .penalties = true},
      {.name = "NumbersHoldingOut", .classes = 0, .weighted = true, .hold_out = 4, .replay = 0, .penalties = true},
  };
}

inline fit::LearnerOptions options_of(const LearnerCase& c) {
  fit::LearnerOptions o;
  o.loss = c.classes == 0 ? fit::Loss::numbers : fit::Loss::classes;
  o.replay = c.replay;
  o.buffer = c.buffer;
  o.power = c.power;
  o.balanced = c.balanced;
  o.softmax = c.softmax;
  o.decayed = c.decayed;
  // What a feature owes has faded by the same part whenever it pays, if nothing fades (weights.hpp).
  if (c.penalties) {
    o.first_order.emplace();
    o.memory = 1;
  }
  return o;
}

// All tuned, with a prior variance of `prior` (0: so little that nothing moves); neither at a bound nor at a number
// that hides a factor.
inline fit::Hyperparameters hyperparameters_of(const LearnerCase& c, double prior) {
  using fit::Tunable;
  fit::Hyperparameters h;
  const auto put = [&](Tunable kind, int of, double place, double low, double high) {
    h.put({kind, of, place, low, high, true, prior / 10, prior > 0 ? prior : 1e-40});
  };
  put(Tunable::rate, 0, std::log(0.7), -5, 0.6);
  for (int g = 0; g < c.groups; ++g) put(Tunable::l2, g, std::log(0.001 * (g + 1)), -12, -1);
  if (c.replay > 0) put(Tunable::replay, 0, std::log(0.8), -3, 1.4);
  put(Tunable::recent, 0, std::log(0.6), -3, 1.4);
  if (c.classes > 0) put(Tunable::temperature, 0, std::log(1.3), -1.5, 2);
  for (int k = 0; c.class_tuning && k < c.classes; ++k) put(Tunable::shift, k, 0.1 * k, -3, 3);
  for (int k = 0; c.class_tuning && k < c.classes; ++k) put(Tunable::scale, k, 0.2 - 0.1 * k, -3, 3);
  return h;
}

// A drifting stream. Feature 0 is everywhere, some are frequent, most are rare; sizes differ by a factor of ten; some
// features stand in a row twice, some rows have none.
class LearnerRows {
 public:
  static constexpr int features = 13;

  LearnerRows(const LearnerCase& c, std::uint64_t seed) : c_(c), rng_(seed) {
    for (double& w : truth_) w = rng_.normal();
  }
  [[nodiscard]] static std::vector<int> groups(int count) {
    std::vector<int> of;
    for (int i = 0; i < features; ++i) of.push_back(i % count);
    return of;
  }

  fit::LearnerRow next() {
    fit::LearnerRow row;
    double sum = 0.2 * rng_.normal();
    if (rng_.below(20) > 0)
      for (int i = 0; i < features; ++i)
        for (int twice = 0; twice < 2; ++twice) {
          if (rng_.uniform() > (twice > 0 ? 0.05 : i == 0 ? 1.0 : i < 5 ? 0.5 : 0.15)) break;
          const auto value = static_cast<float>((i % 3 == 0 ? 3.0 : i % 3 == 1 ? 1.0 : 0.3) * rng_.normal());
          row.entries.push_back({i, value});
          sum += truth_[to_size(i)] * static_cast<double>(value);
        }
    if (c_.groups > 1) sort(row);
    for (double& w : truth_) w += 0.02 * rng_.normal();
    if (c_.classes > 0) row.label = std::clamp(static_cast<int>(std::floor(sum + c_.classes / 2.0)), 0, c_.classes - 1);
    row.target = c_.classes > 0 ? 0.0F : static_cast<float>(sum);
    if (c_.weighted) row.weight = static_cast<float>(rng_.below(4)) + 0.5F;
    ++rows_;
    if (c_.hold_out > 0) row.role = rows_ % c_.hold_out == 0 ? fit::Role::outer : fit::Role::inner;
    return row;
  }

 private:
  void sort(fit::LearnerRow& row) const {
    std::ranges::stable_sort(row.entries, {}, [&](const fit::Entry& e) { return e.slot % c_.groups; });
    for (int g = 0; g < c_.groups; ++g)
      row.group_ends.push_back(static_cast<std::int32_t>(
          std::ranges::count_if(row.entries, [&](const fit::Entry& e) { return e.slot % c_.groups <= g; })));
  }

  LearnerCase c_;
  Rng rng_;
  double truth_[features];
  int rows_ = 0;
};

template <class S>
fit::Learner<S> learner_of(const LearnerCase& c, const fit::LearnerOptions& o, const fit::Hyperparameters& h) {
  fit::Learner<S> learner(o, h, 5);
  learner.grow_features(LearnerRows::features);
  if (c.classes > 0) learner.grow_classes(c.classes);
  const std::vector<int> groups = LearnerRows::groups(c.groups);
  for (int i = 0; i < LearnerRows::features; ++i) learner.weights().set_group(i, groups[to_size(i)]);
  return learner;
}

}  // namespace obolus::test
