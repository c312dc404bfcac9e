#include "obolus/core/schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace {

using obolus::Round;
using obolus::Schedule;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Schedule, ANumberIsAScheduleThatNeverChanges) {
  const Schedule s = 0.1;
  EXPECT_TRUE(s.is_constant());
  for (const Round t : {Round{1}, Round{2}, Round{1'000'000'000'000}}) EXPECT_EQ(s(t), 0.1);
}

TEST(Schedule, TheDefaultIsOne) { EXPECT_EQ(Schedule()(17), 1.0); }

TEST(Schedule, APowerOfTheRoundIsScaled) {
  const Schedule root(3.0, 0.5);
  EXPECT_FALSE(root.is_constant());
  EXPECT_EQ(root(1), 3.0);
  EXPECT_EQ(root(4), 6.0);
  EXPECT_EQ(Schedule(3.0, -1.0)(4), 0.75);
}

TEST(Schedule, TheLogarithmMultiplies) {
  Schedule s(2.0, 1.0);
  s.log = true;
  EXPECT_FALSE(s.is_constant());
  EXPECT_EQ(s(1), 0.0);
  EXPECT_DOUBLE_EQ(s(10), 20.0 * std::log(10.0));  // one product's order apart
}

TEST(Schedule, TheLogarithmAloneIsNotConstant) {
  Schedule s(2.0);
  s.log = true;
  EXPECT_FALSE(s.is_constant());
  EXPECT_DOUBLE_EQ(s(7), 2.0 * std::log(7.0));
}

TEST(Schedule, BoundsHoldForConstantsToo) {
  Schedule s(5.0);
  s.max = 2.0;
  EXPECT_FALSE(s.is_constant());
  EXPECT_EQ(s(1), 2.0);
  s.max = infinity;
  s.min = 9.0;
  EXPECT_EQ(s(1), 9.0);
}

RC_GTEST_PROP(ScheduleProperty, ValuesStayWithinTheirBoundsAndFollowTheFormulaBetweenThem, ()) {
  Schedule s(*rc::gen::inRange(-50, 51) * 0.1, *rc::gen::inRange(-30, 31) * 0.1);
  s.log = *rc::gen::arbitrary<bool>();
  s.min = *rc::gen::inRange(-20, 1);
  s.max = *rc::gen::inRange(0, 1000);
  const Round t = *rc::gen::inRange<Round>(1, 1'000'000);
  const double value = s(t), time = static_cast<double>(t);
  RC_ASSERT(value >= s.min && value <= s.max);
  const double plain = s.scale * std::pow(time, s.power) * (s.log ? std::log(time) : 1.0);
  if (plain > s.min && plain < s.max) RC_ASSERT(value == plain);
}

RC_GTEST_PROP(ScheduleProperty, CountsAreTheLeastWholeNumberNotBelowAndAtLeastOne, ()) {
  const Schedule s(*rc::gen::inRange(-50, 500) * 0.1, *rc::gen::inRange(-10, 11) * 0.1);
  const Round t = *rc::gen::inRange<Round>(1, 10'000);
  const double value = s(t);
  const auto count = static_cast<double>(s.count(t));
  RC_ASSERT(count >= 1.0);
  RC_ASSERT(count >= value);
  if (count > 1.0) RC_ASSERT(count - 1.0 < value);
}

TEST(Schedule, CountsRoundUpAndAreAtLeastOne) {
  Schedule paper(4.0 * 3.0, 0.0);  // K_t = 4κ log t, κ = 3
  paper.log = true;
  EXPECT_EQ(paper.count(1), 1);
  EXPECT_EQ(paper.count(2), 9);  // 12 ln 2 = 8.3
  EXPECT_EQ(Schedule(5.0).count(1), 5);
  EXPECT_EQ(Schedule(5.0000001).count(1), 6);
  EXPECT_EQ(Schedule(-7.0).count(1), 1);
  EXPECT_EQ(Schedule(-infinity).count(1), 1);
}

TEST(Schedule, CountsBeyondThe64BitIntegersSaturate) {
  EXPECT_EQ(Schedule(1e30).count(1), 9'000'000'000'000'000'000);
  EXPECT_EQ(Schedule(infinity).count(1), 9'000'000'000'000'000'000);
}

TEST(Schedule, SchedulesAreEqualWhenEveryPartIs) {
  EXPECT_EQ(Schedule(2.0), Schedule(2.0, 0.0));
  EXPECT_NE(Schedule(2.0), Schedule(2.0, 0.5));
  Schedule bounded(2.0);
  bounded.max = 3.0;
  EXPECT_NE(Schedule(2.0), bounded);
}

}  // namespace
