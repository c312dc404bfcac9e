// The options of `loss_tuning`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

enum class PictureData : std::uint8_t { generated, mnist, fashion_mnist };
template <>
struct EnumNames<PictureData> {
  static constexpr std::array<std::pair<PictureData, std::string_view>, 3> values{
      {{PictureData::generated, "generated"},
       {PictureData::mnist, "mnist"},
       {PictureData::fashion_mnist, "fashion-mnist"}}};
};

enum class ValidationLaw : std::uint8_t { balanced, imbalanced };
template <>
struct EnumNames<ValidationLaw> {
  static constexpr std::array<std::pair<ValidationLaw, std::string_view>, 2> values{
      {{ValidationLaw::balanced, "balanced"}, {ValidationLaw::imbalanced, "imbalanced"}}};
};

// The weights u of f's classes.
enum class ClassWeights : std::uint8_t { inverse, normalised, weighted_mean, none };
template <>
struct EnumNames<ClassWeights> {
  static constexpr std::array<std::pair<ClassWeights, std::string_view>, 4> values{
      {{ClassWeights::inverse, "inverse"},
       {ClassWeights::normalised, "normalised"},
       {ClassWeights::weighted_mean, "weighted_mean"},
       {ClassWeights::none, "none"}}};
};

// What γ_j stands for in g.
enum class ClassScale : std::uint8_t { plain, sigmoid };
template <>
struct EnumNames<ClassScale> {
  static constexpr std::array<std::pair<ClassScale, std::string_view>, 2> values{
      {{ClassScale::plain, "plain"}, {ClassScale::sigmoid, "sigmoid"}}};
};

enum class TrainOn : std::uint8_t { train, all };
template <>
struct EnumNames<TrainOn> {
  static constexpr std::array<std::pair<TrainOn, std::string_view>, 2> values{
      {{TrainOn::train, "train"}, {TrainOn::all, "all"}}};
};

enum class PictureDrift : std::uint8_t { none, swap, turn };
template <>
struct EnumNames<PictureDrift> {
  static constexpr std::array<std::pair<PictureDrift, std::string_view>, 3> values{
      {{PictureDrift::none, "none"}, {PictureDrift::swap, "swap"}, {PictureDrift::turn, "turn"}}};
};

struct LossTuningOptions {
  PictureData data = PictureData::generated;
  std::int64_t pictures = 24, side = 8, classes = 3;
  Numbers channels = Numbers({4.0, 4.0});
  Numbers hidden = 0.0;
  std::int64_t batch = 8, validation_batch = 8;
  Numbers proportions = 1.0;
  std::int64_t phase_rounds = 100;
  std::int64_t max = 0, validation = 0;
  ValidationLaw validation_law = ValidationLaw::balanced;
  ClassWeights weights = ClassWeights::inverse;
  ClassScale scale = ClassScale::plain;
  TrainOn train_on = TrainOn::train;
  PictureDrift drift = PictureDrift::none;
  std::int64_t period = 100;
  double degrees = 15.0;
  std::int64_t test_pictures = 0;
  bool phase_loss = false;

  template <class V>
  void describe(V&& v) {
    constexpr double many = 1e7;
    v("data", data, "generated, or mnist or fashion-mnist: see `obolus data get`");
    v("pictures", pictures, "generated: pictures of a class to train on and validate with; half as many are for tests",
      Range::between(2, many));
    v("side", side, "generated: height and width of a picture", Range::between(2, 256));
    v("classes", classes, "generated: number of classes", Range::between(2, 256));
    v("channels", channels,
      "channels of each convolution block, a list; a block halves the side of the picture; 0: no blocks");
    v("hidden", hidden, "widths of the hidden layers between the blocks and the logits, a list; 0: none");
    v("batch", batch, "pictures of g per round; 0: its whole pool", Range::between(0, many));
    v("validation_batch", validation_batch, "pictures of f per round; 0: its whole pool", Range::between(0, many));
    v("proportions", proportions,
      "μ of each phase, a list: class i = 0, 1, … trains on its first largest·μ^i pictures; 1: all classes alike");
    v("phase_rounds", phase_rounds, "rounds of a phase; the last phase has no end", Range::at_least(1.0));
    v("largest", max, "pictures of class 0 to train on; 0: of every class i, μ^i of all but the validation ones",
      Range::between(0, many));
    v("validation", validation, "pictures of each class, its last, that are for f; 0: a fifth of the class",
      Range::between(0, many));
    v("validation_law", validation_law, "imbalanced: f has the first μ^i of class i's validation pictures only");
    v("weights", weights,
      "u_j of class j in f: inverse: 1/p_j, p_j its part of f's pool; normalised: the same with mean 1 over the "
      "classes; weighted_mean: inverse, and f is divided by the mean of u over the round's pictures; none: 1");
    v("scale", scale, "plain: logits times γ_j, the paper; sigmoid: times 1/(1 + e^−γ_j), as AutoBalance has it");
    v("train_on", train_on, "all: g's pool has f's pictures too, a control for what validation pictures teach");
    v("drift", drift, "swap: two classes exchange names every period; turn: pictures turn by degrees more");
    v("period", period, "rounds between changes of the drift", Range::at_least(1.0));
    v("degrees", degrees, "drift = \"turn\": how far every period turns them, counterclockwise",
      Range::between(-360.0, 360.0));
    v("test_pictures", test_pictures, "test on the first so many test pictures; 0: on all", Range::between(0, many));
    v("phase_loss", phase_loss, "evaluate g on all training pictures of the phase as well, not only on the round's");
  }
};

// Layers' widths of a list; none for a single 0. Throws a ConfigError that names the option.
[[nodiscard]] std::vector<Index> widths_of(const Numbers& widths, std::string_view option = "widths");

// Throws a ConfigError unless `channels` and `hidden` make a network for pictures of that side.
void check_network(const LossTuningOptions& options, Index side);

}  // namespace obolus
