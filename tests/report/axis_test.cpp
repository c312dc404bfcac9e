#include "report/axis.hpp"

#include <gtest/gtest.h>

namespace {

using namespace obolus;

Axis axis(bool logarithmic, double low, double high, double room = 0) {
  Axis a(logarithmic);
  a.include(low);
  a.include(high);
  a.settle(room);
  return a;
}

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> all;
  for (const Tick& t : ticks.all)
    if (!t.minor) all.push_back(t.label.text + (t.label.power.empty() ? "" : "^" + t.label.power));
  return all;
}
using Labels = std::vector<std::string>;

TEST(Axis, HasRoundMarks) {
  EXPECT_EQ(labels(axis(false, 0, 1).ticks(5)), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(axis(false, -3, 1.5).ticks(5)), (Labels{"−3", "−2", "−1", "0", "1"}));
  EXPECT_EQ(labels(axis(false, 0.9701, 0.9709).ticks(4)), (Labels{"0.9702", "0.9704", "0.9706", "0.9708"}));
}

TEST(Axis, TakesAFactorOutOfLargeAndOfSmallNumbers) {
  const Ticks large = axis(false, 0, 250000).ticks(5), small = axis(false, 0, 0.0004).ticks(4);
  EXPECT_EQ(large.factor.text + large.factor.power, "×105");
  EXPECT_EQ(labels(large), (Labels{"0.0", "0.5", "1.0", "1.5", "2.0", "2.5"}));
  EXPECT_EQ(small.factor.power, "−4");
  EXPECT_EQ(labels(small), (Labels{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(axis(false, 0, 20000).ticks(4).factor.text, "");
}

TEST(Axis, MarksDecades) {
  EXPECT_EQ(labels(axis(true, 0.01, 100).ticks(5)), (Labels{"10^−2", "10^−1", "10^0", "10^1", "10^2"}));
  EXPECT_EQ(labels(axis(true, 1e-9, 1).ticks(3)), (Labels{"10^−9", "10^−6", "10^−3", "10^0"}));
}

TEST(Axis, MarksWhatLiesWithinADecade) {
  EXPECT_EQ(labels(axis(true, 2, 30).ticks(5)), (Labels{"2", "5", "10", "20"}));
  EXPECT_EQ(labels(axis(true, 0.9, 1.1).ticks(4)), (Labels{"0.90", "0.95", "1.00", "1.05", "1.10"}));
}

TEST(Axis, PutsValuesByTheirLogarithm) {
  EXPECT_NEAR(axis(true, 1, 100).part(10), 0.5, 1e-12);
  EXPECT_NEAR(axis(false, 1, 3).part(2), 0.5, 1e-12);
  EXPECT_FALSE(axis(true, 1, 100).takes(0));
}

TEST(Axis, GivesAConstantASpanWithTheValueInItsMiddle) {
  for (const double v : {0.0, 1.0, -5.0, 1e9, 1e-9}) {
    const Axis a = axis(false, v, v);
    EXPECT_NEAR(a.part(v), 0.5, 1e-9) << v;
    EXPECT_GE(labels(a.ticks(5)).size(), 2u) << v;
  }
  EXPECT_NEAR(axis(true, 5, 5).part(5), 0.5, 1e-9);
}

TEST(Axis, TakesRoundingForAConstant) {
  const Axis a = axis(false, 1.0, 1.0 + 1e-12);
  EXPECT_NEAR(a.part(1.0), 0.5, 1e-6);
}

TEST(Axis, BeginsAtZeroWhenItNearlyDoes) {
  Axis a(false);
  a.include(1);
  a.include(1000);
  a.settle_from_zero(0);
  EXPECT_EQ(a.part(0), 0);
}

}  // namespace
