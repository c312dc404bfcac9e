#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "rows.hpp"

namespace {

using namespace obolus;

TEST(Hyperplane, LabelsFollowWeightsThatWalkRowByRow) {
  const HyperplaneOptions o{.stream = {.seed = 3, .drift_rows = Numbers(700.0)},
                            .features = 5,
                            .drifting = 3,
                            .magnitude = 0.01,
                            .turn = 0.2,
                            .noise = 0.0};
  const auto g = make_generator(o);
  std::array<double, 5> walked{};
  std::array<double, 3> direction{1.0, 1.0, 1.0};
  for (std::int64_t i = 0; i < 1500; ++i) {
    Rng model = draws("hyperplane", 3, "model", i < 700 ? 1 : 2), turns = draws("hyperplane", 3, "turn", i);
    const GeneratedRow r = row_of(*g, i);
    double left = 0.0, half = 0.0;
    for (std::size_t j = 0; j < 5; ++j) {
      const double w = model.uniform() + walked[j];
      left += w * double{r.numbers[j]};
      half += 0.5 * w;
    }
    if (std::abs(left - half) > 1e-9) {  // the walk here is summed, with rounding
      EXPECT_EQ(r.label, left >= half) << i;
    }
    for (std::size_t j = 0; j < 3; ++j) {
      walked[j] += 0.01 * direction[j];
      if (turns.uniform() < 0.2) direction[j] = -direction[j];
    }
  }
}

TEST(Hyperplane, TheClassesAreAlikeFrequentWithAnyWeightsAndNoise) {
  constexpr std::int64_t n = 50000;
  for (std::int64_t seed = 1; seed <= 3; ++seed) {
    const auto g = make_generator(HyperplaneOptions{.stream = {.seed = seed}, .magnitude = 0.01, .noise = 0.3});
    EXPECT_NEAR(part_of_class(*g, 1, n), 0.5, hoeffding(n));
  }
}

}  // namespace
