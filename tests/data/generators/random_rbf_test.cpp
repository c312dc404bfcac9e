#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "obolus/core/to_size.hpp"
#include "rows.hpp"

namespace {

using namespace obolus;

struct SlowCentroid {
  std::vector<double> place, velocity;
  double deviation, weight;
  int label;
};

std::vector<SlowCentroid> slow_centroids(const RandomRbfOptions& o, std::int64_t number) {
  Rng model = draws("rbf", o.stream.seed, "model", number);
  std::vector<SlowCentroid> out;
  for (std::int64_t k = 0; k < o.centroids; ++k) {
    SlowCentroid c{};
    for (std::int64_t j = 0; j < o.features; ++j) c.place.push_back(model.uniform());
    const int any = static_cast<int>(model.below(static_cast<std::uint64_t>(o.classes)));
    c.label = k < o.classes ? static_cast<int>(k) : any;
    c.deviation = model.uniform();
    c.weight = 1.0 - model.uniform();
    double square = 0.0;
    for (std::int64_t j = 0; j < o.features; ++j) c.velocity.push_back(model.normal());
    for (const double v : c.velocity) square += v * v;
    for (double& v : c.velocity) v *= (k < o.moving ? o.speed : 0.0) / std::sqrt(square);
    out.push_back(c);
  }
  return out;
}

void step(std::vector<SlowCentroid>& centroids) {
  for (SlowCentroid& c : centroids) {
    for (std::size_t j = 0; j < c.place.size(); ++j) {
      c.place[j] += c.velocity[j];
      if (c.place[j] < 0.0 || c.place[j] > 1.0) {
        c.place[j] = c.place[j] < 0.0 ? -c.place[j] : 2.0 - c.place[j];
        c.velocity[j] = -c.velocity[j];
      }
    }
  }
}

TEST(RandomRbf, RowsLieAroundCentroidsThatBounceRowByRow) {
  const RandomRbfOptions o{.stream = {.seed = 5, .drift_rows = Numbers(1000.0)},
                           .features = 3,
                           .classes = 4,
                           .centroids = 9,
                           .moving = 6,
                           .speed = 0.02};
  const auto g = make_generator(o);
  auto before = slow_centroids(o, 1), after = slow_centroids(o, 2);
  for (std::int64_t i = 0; i < 2000; ++i) {
    const std::vector<SlowCentroid>& centroids = i < 1000 ? before : after;
    Rng rng = draws("rbf", 5, "row", i);
    (void)rng.uniform();  // noise
    double left = rng.uniform() * std::accumulate(centroids.begin(), centroids.end(), 0.0,
                                                  [](double s, const SlowCentroid& c) { return s + c.weight; });
    std::size_t k = 0;
    while (k + 1 < centroids.size() && left >= centroids[k].weight) left -= centroids[k++].weight;
    std::array<double, 3> along{};
    double square = 0.0;
    for (double& a : along) {
      a = 2.0 * rng.uniform() - 1.0;
      square += a * a;
    }
    const double distance = rng.normal() * centroids[k].deviation;
    const GeneratedRow r = row_of(*g, i);
    EXPECT_EQ(r.label, centroids[k].label) << i;
    for (std::size_t j = 0; j < 3; ++j)  // 2000 steps, each rounded to 2^-53, then to float: |x| < 8
      EXPECT_NEAR(r.numbers[j], centroids[k].place[j] + along[j] * distance / std::sqrt(square), 1e-6) << i;
    step(before);
    step(after);
  }
}

TEST(RandomRbf, ClassesHaveTheWeightsOfTheirCentroidsOrAreBalanced) {
  constexpr std::int64_t n = 50000;
  RandomRbfOptions o{.classes = 4, .centroids = 9};
  std::array<double, 4> part{};
  double all = 0.0;
  for (const SlowCentroid& c : slow_centroids(o, 1)) {
    part[to_size(c.label)] += c.weight;
    all += c.weight;
  }
  for (int k = 0; k < 4; ++k) {
    const double p = part[to_size(k)] / all;
    o.balance = false;
    o.noise = 0.0;
    EXPECT_NEAR(part_of_class(*make_generator(o), k, n), p, hoeffding(n));
    o.noise = 0.3;
    EXPECT_NEAR(part_of_class(*make_generator(o), k, n), 0.7 * p + 0.1 * (1.0 - p), hoeffding(n));
    o.balance = true;
    o.noise = 0.0;
    EXPECT_NEAR(part_of_class(*make_generator(o), k, n), 0.25, hoeffding(n));
  }
}

}  // namespace
