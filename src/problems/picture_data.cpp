// The pictures behind `loss_tuning`, by the name in its options.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/picture_pools.hpp"

namespace obolus {
namespace {

// Uniform numbers at the knots of a coarse grid, bilinear in between.
std::vector<double> pattern(Index side, Rng rng) {
  const Index knots = std::min<Index>(4, side);
  std::vector<double> grid(to_size(knots * knots)), smooth;
  for (double& value : grid) value = rng.uniform();
  const double step = static_cast<double>(knots - 1) / static_cast<double>(side - 1);
  for (Index row = 0; row < side; ++row) {
    for (Index column = 0; column < side; ++column) {
      const double y = static_cast<double>(row) * step, x = static_cast<double>(column) * step;
      const Index i = std::min(static_cast<Index>(y), knots - 2), j = std::min(static_cast<Index>(x), knots - 2);
      const double down = y - static_cast<double>(i), right = x - static_cast<double>(j);
      const double* at = grid.data() + i * knots + j;
      smooth.push_back((1.0 - down) * ((1.0 - right) * at[0] + right * at[1]) +
                       down * ((1.0 - right) * at[knots] + right * at[knots + 1]));
    }
  }
  return smooth;
}

Pictures noisy(const std::vector<std::vector<double>>& patterns, Index a_class, Index side, Rng rng) {
  constexpr double noise = 0.15;
  Pictures all{.height = side, .width = side, .pixels = {}, .label = {}};
  for (Index k = 0; k < a_class; ++k) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      all.label.push_back(static_cast<std::uint8_t>(i));
      for (const double grey : patterns[i])
        all.pixels.push_back(
            static_cast<std::uint8_t>(std::clamp(std::floor(255.0 * (grey + noise * rng.normal()) + 0.5), 0.0, 255.0)));
    }
  }
  return all;
}

}  // namespace

LabelledPictures generate_pictures(const LossTuningOptions& options, std::uint64_t seed) {
  validate(options, "problem");
  constexpr double max = 1e9;
  const double pixels = 1.5 * static_cast<double>(options.pictures) * static_cast<double>(options.classes) *
                        static_cast<double>(options.side) * static_cast<double>(options.side);
  if (pixels > max)
    throw ConfigError(
        fmt::format("problem.pictures: got {} of {} classes, {:.3g} pixels with the tests, expected at most "
                    "{:.3g}",
                    options.pictures, options.classes, pixels, max));
  const Rng rng = Rng(seed).child("generated pictures");
  const auto side = static_cast<Index>(options.side), a_class = static_cast<Index>(options.pictures);
  std::vector<std::vector<double>> patterns;
  patterns.reserve(to_size(options.classes));
  for (std::int64_t i = 0; i < options.classes; ++i)
    patterns.push_back(pattern(side, rng.child("pattern", static_cast<std::uint64_t>(i))));
  return {.train = noisy(patterns, a_class, side, rng.child("train")),
          .test = noisy(patterns, a_class / 2, side, rng.child("test")),
          .classes = static_cast<Index>(options.classes)};
}

std::shared_ptr<const LabelledPictures> pictures_of(const LossTuningOptions& options, std::uint64_t seed) {
  if (options.data == PictureData::generated)
    return std::make_shared<const LabelledPictures>(generate_pictures(options, seed));
  const PictureSet set = options.data == PictureData::mnist ? PictureSet::mnist : PictureSet::fashion_mnist;
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const LabelledPictures>> alive;  // by folder
  const std::lock_guard lock(mutex);
  auto& known = alive[pictures_folder(set)];
  std::shared_ptr<const LabelledPictures> all = known.lock();
  if (!all) known = all = std::make_shared<const LabelledPictures>(load_pictures(set));
  return all;
}

}  // namespace obolus
