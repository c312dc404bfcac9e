// The options of `obolus fit`. None has to be given: every default was chosen on streams of text, images and tables
// (docs/fit.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "obolus/core/options.hpp"

namespace obolus {

enum class FitTask : std::uint8_t { automatic, classes, numbers };
template <>
struct EnumNames<FitTask> {
  static constexpr std::array<std::pair<FitTask, std::string_view>, 3> values{
      {{FitTask::automatic, "auto"}, {FitTask::classes, "classes"}, {FitTask::numbers, "numbers"}}};
};

enum class FitScale : std::uint8_t { automatic, none };
template <>
struct EnumNames<FitScale> {
  static constexpr std::array<std::pair<FitScale, std::string_view>, 2> values{
      {{FitScale::automatic, "auto"}, {FitScale::none, "none"}}};
};

enum class FitJudge : std::uint8_t { plain, balanced };
template <>
struct EnumNames<FitJudge> {
  static constexpr std::array<std::pair<FitJudge, std::string_view>, 2> values{
      {{FitJudge::plain, "plain"}, {FitJudge::balanced, "balanced"}}};
};

struct FitOptions {
  FitTask task = FitTask::automatic;
  std::string classes = {};
  std::int64_t hash_bits = 0;
  FitScale scale = FitScale::automatic;

  std::string tune = "rate,l2,l2-per-feature,replay,temperature";
  std::optional<double> learning_rate = {};
  double l2 = 1e-5, replay_weight = 1.0, temperature = 1.0;
  bool decay = false;
  FitJudge judge = FitJudge::plain;
  std::int64_t hold_out = 0;
  std::int64_t delay = 0;

  std::int64_t batch = 8, steps = 8, replay = 8, buffer = 20'000;
  double feature_power = 0.5, memory = 0.98, l2_memory = 1.0, replay_memory = 0.99, limit = 12.0;
  double rate_step = 0.07, l2_step = 0.1, replay_step = 0.1, temperature_step = 0.02, class_step = 0.02;
  std::string optimiser = "first-order", optimiser_options = {};
  std::optional<double> feature_step = {}, shrinkage = {};
  double outer_decay = 0.5, outer_decay2 = 0.99, first_steps = 3.0, later_steps = 0.5, halfway = 100.0;
  std::int64_t seed = 1;

  template <class V>
  void describe(V&& v) {
    v("task", task, "classes: labels are names; numbers: labels are numeric targets; auto: decided by the first rows");
    v("classes", classes, "the classes, separated by commas; empty: every label that occurs");
    v("hash_bits", hash_bits,
      "hash features into 2^N shared rows of weights; 0: one row per feature, memory grows with them",
      Range::between(0, 30));
    v("scale", scale, "auto: standardise numeric columns on the fly, longer steps for rare features; none: neither");
    v("tune", tune,
      "what to tune, separated by commas: rate, l2, replay, temperature, l2-per-group, l2-per-feature, class-shift, "
      "class-scale; or none");
    v("learning_rate", learning_rate,
      "start of the learning rate, or its fixed value; in units of 1/L, L the curvature of the batches; unset: 4 for "
      "classes, 1 for numbers",
      Range::positive());
    v("l2", l2, "the same for the L2 penalty, in units of L; 0: none", Range::at_least(0));
    v("replay_weight", replay_weight, "the same for the weight of replayed rows relative to new ones",
      Range::positive());
    v("temperature", temperature, "the same for the divisor of the logits in predictions", Range::positive());
    v("decay", decay, "divide the learning rate by sqrt(1 + t/100) in round t");
    v("judge", judge, "balanced: all classes count equally in judging the hyperparameters, however rare");
    v("hold_out", hold_out,
      "N: one row in N judges the hyperparameters and is not learnt; 0: every row judges, then trains",
      Range::between(0, 1e9));
    v("delay", delay, "rows between a row and its label", Range::between(0, 1e7));
    v("batch", batch, "new rows per round", Range::between(1, 1024));
    v("steps", steps, "K, steps per round", Range::between(1, 1000));
    v("replay", replay, "replayed rows per round", Range::between(0, 1024));
    v("buffer", buffer, "replay from this many of the latest rows", Range::between(0, 1e8));
    v("feature_power", feature_power, "p: a feature's steps are scaled by (mean of its squared values)^-p",
      Range::between(0, 1));
    v("memory", memory,
      "share of the derivative by the learning rate kept from round to round; also of the derivatives not named below",
      Range::between(0, 1));
    v("l2_memory", l2_memory, "the same for L2, whose effect takes long", Range::between(0, 1));
    v("replay_memory", replay_memory, "the same for the weight of replayed rows", Range::between(0, 1));
    v("limit", limit,
      "cap on a round's learning rate, in units of one over its own curvature; for numbers at most 1.9, beyond which "
      "squares diverge",
      Range::positive());
    v("rate_step", rate_step, "Adam's step on ln(learning rate)", Range::positive());
    v("l2_step", l2_step, "on ln(l2)", Range::positive());
    v("replay_step", replay_step, "on ln(weight of replayed rows)", Range::positive());
    v("temperature_step", temperature_step, "on ln(temperature)", Range::positive());
    v("class_step", class_step, "on the classes' shifts and ln(scales)", Range::positive());
    v("optimiser", optimiser,
      "with l2-per-feature: what moves the penalties; first-order: a step for the features of the newest rows; or any "
      "of `obolus list optimisers`, on the same rounds");
    v("optimiser_options", optimiser_options,
      "options of that optimiser, as `obolus list optimisers` shows them: key=value,...");
    v("feature_step", feature_step, "Adam's step on ln(l2) of a feature; unset: 0.1, and 0.05 for the other optimisers",
      Range::positive());
    v("shrinkage", shrinkage,
      "pull towards l2 each time a feature moves, as a share of the distance; unset: 0.02, and for the other "
      "optimisers 0.001 per round, towards their mean",
      Range::between(0, 1));
    v("outer_decay", outer_decay, "Adam's decay rate for slopes", Range::between(0, 0.9999));
    v("outer_decay2", outer_decay2, "Adam's decay rate for their squares", Range::between(0, 0.999999));
    v("first_steps", first_steps, "factor on all of these steps at first ...", Range::positive());
    v("later_steps", later_steps, "... and later: later + (first - later)/(1 + t/halfway) in round t",
      Range::positive());
    v("halfway", halfway, "see later_steps", Range::positive());
    v("seed", seed, "determines which rows are replayed", Range::at_least(0));
  }
};

}  // namespace obolus
