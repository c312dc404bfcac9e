#include "fit/model/hyperparameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "obolus/core/rng.hpp"

namespace obolus::fit {
namespace {

Hyperparameters two() {
  Hyperparameters h;
  h.put({Tunable::rate, 0, 0.0, -5, 5, true, 0.001, 16});
  h.put({Tunable::l2, 0, 0.0, -5, 5, true, 0.003, 16});
  return h;
}

// Rows whose mean loss is ½(θ − at)'(θ − at): slope θ − at and noise, information 1.
void step(Hyperparameters& h, Rng& rng, double at, double noise = 0.3, double rows = 8) {
  std::vector<double> slope;
  for (const Hyperparameter& one : h.list) slope.push_back(one.place - at + noise * rng.normal());
  h.step(slope, {1, 0, 0, 1}, rows);
}

TEST(Filter, FindsAMinimumAndFollowsItWhenItMoves) {
  Hyperparameters h = two();
  Rng rng(1);
  for (const double at : {1.5, -2.0}) {
    for (int t = 0; t < 300; ++t) step(h, rng, at);
    for (const Hyperparameter& one : h.list) EXPECT_NEAR(one.place, at, 0.15);
  }
}

// Steps of Adam divide by a memory of squares, which an outlier fills: everything stands still until it fades. The
// filter loses a step of 1 at most, and moves as before within a hundred rounds.
TEST(Filter, DoesNotFreezeAfterAnOutlier) {
  for (const double size : {1e3, 1e8, 1e30}) {
    Hyperparameters h = two();
    Rng rng(2);
    for (int t = 0; t < 300; ++t) step(h, rng, 1.0);
    const double before = h.list[0].place;
    h.step({size, -size}, {size * size, 0, 0, size * size}, 8);
    EXPECT_LE(std::abs(h.list[0].place - before), 1.0) << size;
    for (int t = 0; t < 100; ++t) step(h, rng, -1.0);
    for (const Hyperparameter& one : h.list) EXPECT_NEAR(one.place, -1.0, 0.3) << size;
  }
}

TEST(Filter, IgnoresWhatIsNotFinite) {
  Hyperparameters h = two();
  Rng rng(3);
  for (int t = 0; t < 50; ++t) step(h, rng, 1.0);
  const double before = h.list[0].place;
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    h.step({bad, 0.1}, {1, 0, 0, 1}, 8);
    h.step({0.1, 0.1}, {bad, 0, 0, 1}, 8);
    EXPECT_EQ(h.list[0].place, before);
  }
  for (int t = 0; t < 100; ++t) step(h, rng, 0.0);
  EXPECT_NEAR(h.list[0].place, 0.0, 0.2);
}

// However long it was there.
TEST(Filter, LeavesABoundAsSoonAsTheSlopesTurn) {
  Hyperparameters h = two();
  Rng rng(4);
  for (int t = 0; t < 2000; ++t) step(h, rng, 8.0);
  EXPECT_EQ(h.list[0].place, 5.0);
  EXPECT_GT(h.list[0].at_bound, 1900);
  for (int t = 0; t < 100; ++t) step(h, rng, 0.0);
  EXPECT_NEAR(h.list[0].place, 0.0, 0.3);
}

TEST(Filter, LeavesAloneWhatIsNotTuned) {
  Hyperparameters h;
  h.put({Tunable::rate, 0, 0.5, -5, 5, true, 0.001, 16});
  h.put({Tunable::replay, 0, 0.7, -5, 5, false, 0.001, 16});
  h.step({1, 1}, {1, 0.5, 0.5, 1}, 8);
  EXPECT_LT(h.list[0].place, 0.5);
  EXPECT_EQ(h.list[1].place, 0.7);
}

}  // namespace
}  // namespace obolus::fit
