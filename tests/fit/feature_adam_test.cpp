#include "fit/penalties/feature_adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

using fit::FeatureAdam;
using fit::FeatureAdamOptions;

constexpr std::int64_t late = std::int64_t{1} << 40;  // steps have their full length

FeatureAdam three(const FeatureAdamOptions& o) {
  FeatureAdam p(o);
  p.grow(3);
  return p;
}

// The textbook's, for one feature, in double.
struct Adam {
  FeatureAdamOptions o;
  double place = 0, mean = 0, square = 0;
  int moves = 0;

  double move(double slope, double t) {
    ++moves;
    mean = o.decay * mean + (1 - o.decay) * slope;
    square = o.decay2 * square + (1 - o.decay2) * slope * slope;
    const double m = mean / (1 - std::pow(o.decay, moves)), v = square / (1 - std::pow(o.decay2, moves));
    const double length = t / (t + o.halfway) * (o.later + (o.first - o.later) / (1 + moves / o.halfway));
    place =
        std::clamp((1 - o.shrinkage) * place - length * o.step * m / std::sqrt(v), -o.max_log_ratio, o.max_log_ratio);
    return std::exp(place);
  }
};

// A move has some ten roundings of 6e-8, and is 0.2 long; a hundred moves add up to 1.2e-5 where nothing is forgotten.
TEST(FeatureAdam, MoveLikeAdamOnTheLogarithm) {
  const FeatureAdamOptions o;
  FeatureAdam got = three(o);
  std::vector<Adam> expected(3, Adam{o});
  Rng rng(3);
  for (int t = 0; t < 300; ++t) {
    const auto slot = to_size(rng.below(3));  // each counts its own moves
    const auto slope = static_cast<float>((slot == 0 ? 1e-6 : 10.0) * (rng.normal() + 0.3));
    const double ratio = expected[slot].move(static_cast<double>(slope), t + 1);
    ASSERT_NEAR(static_cast<double>(got.move(static_cast<std::int64_t>(slot), slope, t + 1)), ratio, 1.2e-5 * ratio)
        << t;
  }
}

TEST(FeatureAdam, BeginAtOneAndStepByTheStepWhateverTheSlope) {
  FeatureAdamOptions o;
  o.step = 0.25;
  o.first = o.later = 1;
  for (const float slope : {1e-30F, 1e-8F, 1.0F, 1e8F, 1e30F}) {
    FeatureAdam p = three(o);
    EXPECT_FLOAT_EQ(p.move(0, slope, late), std::exp(-0.25F));
    EXPECT_FLOAT_EQ(p.move(1, -slope, late), std::exp(0.25F));
  }
}

TEST(FeatureAdam, StayWhereThereIsNoSlopeToSpeakOf) {
  FeatureAdam p = three({});
  const float ratio = p.move(1, 2.0F, late);
  Archive before, after;
  p.fields(before, 3);
  for (const float slope : {0.0F, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_EQ(p.move(1, slope, late), ratio);
  EXPECT_EQ(p.move(2, 0.0F, late), 1.0F);
  p.fields(after, 3);
  EXPECT_EQ(before.bytes(), after.bytes());
}

// A slope of one sign is worth a step a round; where the pull is as long, at step/shrinkage, it ends. 0.98^400 = 3e-4
// is left of the way.
TEST(FeatureAdam, ArePulledBackToOne) {
  FeatureAdamOptions o;
  o.step = 0.05;
  o.shrinkage = 0.02;
  o.first = o.later = 1;
  FeatureAdam p = three(o);
  float ratio = 1;
  for (int t = 0; t < 400; ++t) ratio = p.move(0, -3.0F, late);
  EXPECT_NEAR(std::log(ratio), 0.05 / 0.02, 2e-3);
  // Slopes to and fro have no mean: only the pull is left, and what Adam makes of the last two.
  for (int t = 0; t < 400; ++t) ratio = p.move(0, t % 2 == 0 ? 3.0F : -3.0F, late);
  EXPECT_NEAR(std::log(ratio), 0.0, 0.05);
}

TEST(FeatureAdam, GoNoFurtherThanTheyMay) {
  FeatureAdamOptions o;
  o.max_log_ratio = 1.5;
  o.shrinkage = 0;
  FeatureAdam p = three(o);
  float up = 1, down = 1;
  for (int t = 0; t < 50; ++t) {
    up = p.move(0, -1.0F, late);
    down = p.move(1, 1.0F, late);
  }
  EXPECT_FLOAT_EQ(up, std::exp(1.5F));
  EXPECT_FLOAT_EQ(down, std::exp(-1.5F));
}

// The fields of a feature as they stand in a file.
struct Saved {
  float place = 0, mean = 0, root = 0, part1 = 0, part2 = 0;
  std::int32_t rounds = 0;
};

std::string loading(std::vector<Saved> features) {
  Archive to;
  fit::saved(to, "penalties", features);
  Archive from(to.bytes());
  FeatureAdam p({});
  try {
    p.fields(from, 2);
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(FeatureAdam, AreRefusedWhereTheyDoNotFitTheFeatures) {
  EXPECT_EQ(loading({{}, {.place = -7}}), "accepted");
  const std::string refused = "saved state: the penalties do not fit the features";
  EXPECT_EQ(loading({}), refused);
  EXPECT_EQ(loading({{}}), refused);
  EXPECT_EQ(loading({{}, {}, {}}), refused);
  EXPECT_EQ(loading({{}, {.place = 7.5F}}), refused);
  EXPECT_EQ(loading({{}, {.place = std::nanf("")}}), refused);
  EXPECT_EQ(loading({{}, {.mean = std::nanf("")}}), refused);
  EXPECT_EQ(loading({{}, {.root = -1}}), refused);
  EXPECT_EQ(loading({{}, {.part1 = 2}}), refused);
  EXPECT_EQ(loading({{}, {.rounds = -1}}), refused);
}

TEST(FeatureAdam, GoOnFromWhatWasSaved) {
  FeatureAdam whole = three({}), resumed({});
  for (int t = 0; t < 10; ++t) whole.move(t % 3, static_cast<float>(t) - 4.5F, late);
  Archive to;
  whole.fields(to, 3);
  Archive from(to.bytes());
  resumed.fields(from, 3);
  from.finish();
  for (int t = 0; t < 10; ++t) EXPECT_EQ(resumed.move(t % 3, 1.5F, late), whole.move(t % 3, 1.5F, late));
}

}  // namespace
}  // namespace obolus
