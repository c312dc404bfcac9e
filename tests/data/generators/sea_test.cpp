#include <gtest/gtest.h>

#include <array>

#include "rows.hpp"

namespace {

using namespace obolus;

TEST(Sea, LabelsFollowTheThresholdOfTheConceptFromTheRowOfTheDrift) {
  const auto g = make_generator(SeaOptions{.stream = {.drift_rows = Numbers({500.0, 1000.0, 1500.0})}, .noise = 0.0});
  for (std::int64_t i = 0; i < 2000; ++i) {
    const GeneratedRow r = row_of(*g, i);
    const double theta = i < 500 ? 8.0 : i < 1000 ? 9.0 : i < 1500 ? 7.0 : 9.5;
    EXPECT_EQ(r.label, double{r.numbers[0]} + double{r.numbers[1]} > theta) << i;
    for (const float x : r.numbers) EXPECT_TRUE(x >= 0.0F && x <= 10.0F);
  }
}

TEST(Sea, ClassZeroHasThePartOfTheTriangleUnderTheThreshold) {
  constexpr std::int64_t n = 50000;
  const std::array<double, 4> theta{8.0, 9.0, 7.0, 9.5};
  for (std::size_t k = 0; k < 4; ++k) {
    const ConceptOptions stream{.concepts = Numbers(static_cast<double>(k + 1))};
    const double p = theta[k] * theta[k] / 200.0;
    EXPECT_NEAR(part_of_class(*make_generator(SeaOptions{.stream = stream, .noise = 0.0}), 0, n), p, hoeffding(n));
    EXPECT_NEAR(part_of_class(*make_generator(SeaOptions{.stream = stream, .noise = 0.2}), 0, n),
                0.8 * p + 0.2 * (1 - p), hoeffding(n));
    const auto g = make_generator(SeaOptions{.stream = stream, .noise = 0.0, .share = 0.1});
    EXPECT_NEAR(part_of_class(*g, 1, n), 0.1, hoeffding(n));
  }
}

TEST(Sea, NoiseInvertsItsPartOfTheLabels) {
  constexpr std::int64_t n = 50000;
  const auto g = make_generator(SeaOptions{.noise = 0.1});
  double inverted = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const GeneratedRow r = row_of(*g, i);
    inverted += r.label != (double{r.numbers[0]} + double{r.numbers[1]} > 8.0);
  }
  EXPECT_NEAR(inverted / n, 0.1, hoeffding(n));
}

}  // namespace
