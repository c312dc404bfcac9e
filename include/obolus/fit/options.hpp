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

enum class FitRange : std::uint8_t { seen, any };
template <>
struct EnumNames<FitRange> {
  static constexpr std::array<std::pair<FitRange, std::string_view>, 2> values{
      {{FitRange::seen, "seen"}, {FitRange::any, "any"}}};
};

enum class FitBlend : std::uint8_t { labels, none };
template <>
struct EnumNames<FitBlend> {
  static constexpr std::array<std::pair<FitBlend, std::string_view>, 2> values{
      {{FitBlend::labels, "labels"}, {FitBlend::none, "none"}}};
};

struct FitOptions {
  FitTask task = FitTask::automatic;
  std::string classes = {};
  std::int64_t hash_bits = 0;
  FitScale scale = FitScale::automatic;

  std::string tune = "rate,l2,l2-per-feature,replay,recent,temperature";
  std::optional<double> learning_rate = {}, replay_weight = {}, recent_weight = {};
  double l2 = 1e-5, temperature = 1.0;
  bool decay = false;
  FitJudge judge = FitJudge::plain;
  std::int64_t hold_out = 0;
  std::int64_t delay = 0;
  FitRange range = FitRange::seen;
  FitBlend blend = FitBlend::labels;

  std::int64_t batch = 8, steps = 8, recent = 8, replay = 2, buffer = 20'000;
  double feature_power = 0.5, memory = 0.98, l2_memory = 1.0, replay_memory = 0.99, limit = 24.0;
  std::string optimiser = "first-order", optimiser_options = {};
  std::optional<double> feature_step = {}, shrinkage = {};
  std::int64_t seed = 1;

  // Those that a user may want to set.
  template <class V>
  void describe_common(V&& v) {
    v("task", task, "classes: labels are names; numbers: labels are numeric targets; auto: decided by the first rows");
    v("classes", classes, "the classes, separated by commas; empty: every label that occurs");
    v("hash_bits", hash_bits,
      "hash features into 2^N shared rows of weights; 0: one row per feature, memory grows with them",
      Range::between(0, 30));
    v("scale", scale, "auto: standardise numeric columns on the fly, longer steps for rare features; none: neither");
    v("range", range,
      "seen: predicted numbers stay within the range of the labels so far and half of it on either side");
    v("blend", blend,
      "labels: numbers are predicted by a weighted mean of the model, the last label and the mean label, whose weights "
      "follow their errors; none: by the model alone");
    v("tune", tune,
      "what to tune, separated by commas: rate, l2, replay, recent, temperature, l2-per-group, l2-per-feature, "
      "class-shift, "
      "class-scale; or none");
    v("learning_rate", learning_rate,
      "start of the learning rate, or its fixed value; in units of 1/L, L the curvature of the rows learnt; unset: 1; "
      "numbers: 0.3",
      Range::positive());
    v("l2", l2, "the same for the L2 penalty, in units of L; 0: none", Range::at_least(0));
    v("judge", judge, "balanced: all classes count equally in judging the hyperparameters, however rare");
    v("hold_out", hold_out,
      "N: one row in N judges the hyperparameters and is not learnt; 0: every row judges, then trains",
      Range::between(0, 1e9));
    v("delay", delay, "rows between a row and its label", Range::between(0, 1e7));
    v("seed", seed, "determines which rows are replayed", Range::at_least(0));
  }
  // Those that the authors chose.
  template <class V>
  void describe_advanced(V&& v) {
    v("replay_weight", replay_weight,
      "start of the weight of replayed rows, or its fixed value; the newest row weighs 1; unset: 1; numbers: 0.3",
      Range::positive());
    v("recent_weight", recent_weight, "the same for the rows before the newest one", Range::positive());
    v("temperature", temperature, "the same for the divisor of the logits in predictions", Range::positive());
    v("decay", decay, "divide the learning rate by sqrt(1 + t/100) in round t");
    v("batch", batch, "rows of a round: the hyperparameters move once in so many rows", Range::between(1, 1024));
    v("steps", steps, "K, steps after every row", Range::between(1, 1000));
    v("recent", recent, "the newest row is learnt with this many before it", Range::between(0, 1024));
    v("replay", replay, "and with this many replayed rows, drawn anew for each", Range::between(0, 1024));
    v("buffer", buffer, "replay from this many of the latest rows", Range::between(0, 1e8));
    v("feature_power", feature_power, "p: a feature's steps are scaled by (mean of its squared values)^-p",
      Range::between(0, 1));
    v("memory", memory,
      "share of the derivative by the learning rate kept from round to round; also of the derivatives not named below",
      Range::between(0, 1));
    v("l2_memory", l2_memory, "the same for L2, whose effect takes long", Range::between(0, 1));
    v("replay_memory", replay_memory, "the same for the weight of replayed rows", Range::between(0, 1));
    v("limit", limit,
      "cap on a row's learning rate, in units of one over its own curvature; for numbers at most 1.9, beyond which "
      "squares diverge",
      Range::positive());
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
  }
  template <class V>
  void describe(V&& v) {
    describe_common(v);
    describe_advanced(v);
  }
};

}  // namespace obolus
