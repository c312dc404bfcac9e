#include "obolus/core/schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

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

// ---- Shapes --------------------------------------------------------------------------------------------------------

TEST(Schedule, AChangeSetsTheScaleFromItsRoundOn) {
  Schedule s(0.5);
  ASSERT_TRUE(s.changes.add(180, 0.25));
  ASSERT_TRUE(s.changes.add(220, 2.0));
  EXPECT_FALSE(s.is_constant());
  EXPECT_FALSE(s.is_monotone());
  EXPECT_FALSE(s.rests());
  for (const auto& [t, value] : {std::pair<Round, double>{1, 0.5}, {179, 0.5}, {180, 0.25}, {219, 0.25}, {220, 2.0}})
    EXPECT_EQ(s(t), value) << t;
  EXPECT_EQ(s(1'000'000), 2.0);
}

TEST(Schedule, MoreChangesThanThereIsRoomForAreRefused) {
  Schedule s(1.0);
  for (std::size_t i = 0; i < obolus::ScaleChanges::capacity; ++i)
    ASSERT_TRUE(s.changes.add(static_cast<Round>(i) + 1, 1.0));
  EXPECT_FALSE(s.changes.add(100, 5.0));
  EXPECT_EQ(s(100), 1.0);
}

TEST(Schedule, AWarmUpRisesLinearlyAndIsFullInItsLastRound) {
  Schedule s(8.0);
  s.warmup = 4;
  for (const auto& [t, value] : {std::pair<Round, double>{1, 2.0}, {2, 4.0}, {3, 6.0}, {4, 8.0}, {5, 8.0}})
    EXPECT_EQ(s(t), value) << t;
}

TEST(Schedule, ADelayedStartIsZeroBeforeItsRoundAndWarmsUpFromThere) {
  Schedule s(8.0);
  s.from = 80;
  s.min = 1.0;  // bounds do not wake it
  EXPECT_TRUE(s.rests());
  EXPECT_EQ(s(1), 0.0);
  EXPECT_EQ(s(79), 0.0);
  EXPECT_EQ(s(80), 8.0);
  s.warmup = 2;
  EXPECT_EQ(s(79), 0.0);
  EXPECT_EQ(s(80), 4.0);
  EXPECT_EQ(s(81), 8.0);
  s.from = 1;  // the first round there is
  EXPECT_FALSE(s.rests());
  EXPECT_EQ(s(1), 4.0);
}

TEST(Schedule, ACosineFallsFromTheScaleToItsFloorAndStaysThere) {
  Schedule s(2.0);
  s.cosine = 400;
  EXPECT_TRUE(s.rests());
  EXPECT_NEAR(s(1), 2.0 * (1.0 + std::cos(std::numbers::pi / 400)) / 2, 1e-15);
  EXPECT_NEAR(s(200), 1.0, 1e-15);
  EXPECT_EQ(s(400), 0.0);
  EXPECT_EQ(s(1000), 0.0);
  s.floor = 0.25;
  EXPECT_FALSE(s.rests());
  EXPECT_NEAR(s(200), 1.25, 1e-15);
  EXPECT_EQ(s(400), 0.5);
}

RC_GTEST_PROP(ScheduleProperty, AShapeIsAFactorOfTheScheduleWithoutIt, ()) {
  Schedule s(*rc::gen::inRange(1, 51) * 0.1, *rc::gen::inRange(-20, 21) * 0.1);
  const Schedule plain = s;
  const Round t = *rc::gen::inRange<Round>(1, 500);
  s.from = *rc::gen::inRange<Round>(0, 100);
  s.warmup = *rc::gen::inRange<Round>(0, 100);
  const double time = static_cast<double>(t - std::max<Round>(s.from, 1) + 1);
  const double rise = s.warmup == 0 ? 1.0 : std::min(1.0, time / static_cast<double>(s.warmup));
  RC_ASSERT(s(t) == (t < s.from ? 0.0 : plain(t) * rise));
}

static_assert(std::is_trivially_copyable_v<Schedule>, "copied in hot loops");

TEST(Schedule, SchedulesAreEqualWhenEveryPartIs) {
  EXPECT_EQ(Schedule(2.0), Schedule(2.0, 0.0));
  EXPECT_NE(Schedule(2.0), Schedule(2.0, 0.5));
  Schedule bounded(2.0);
  bounded.max = 3.0;
  EXPECT_NE(Schedule(2.0), bounded);
  Schedule changed(2.0), later(2.0);
  changed.changes.add(5, 1.0);
  EXPECT_NE(Schedule(2.0), changed);
  later.changes.add(6, 1.0);
  EXPECT_NE(changed, later);
}

}  // namespace
