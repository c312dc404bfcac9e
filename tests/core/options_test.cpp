#include "obolus/core/options.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <optional>

namespace obolus {
enum class Mood : std::uint8_t { calm, wild, unnamed };
template <>
struct EnumNames<Mood> {
  static constexpr std::array<std::pair<Mood, std::string_view>, 2> values{
      {{Mood::calm, "calm"}, {Mood::wild, "wild"}}};
};
}  // namespace obolus

namespace {

using namespace obolus;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

struct Options {
  double positive = 1.0;
  std::int64_t whole = 3;
  bool flag = false;
  std::string text = "anything";
  Mood mood = Mood::calm;
  Schedule schedule = 1.0;
  Schedule count = 2.0;
  std::optional<double> maybe = {};
  double free = -5.0;

  template <class V>
  void describe(V&& v) {
    v("positive", positive, "help", Range::positive());
    v("whole", whole, "help", Range::between(1, 5));
    v("flag", flag, "help");
    v("text", text, "help");
    v("mood", mood, "help");
    v("schedule", schedule, "help", Range::positive());
    v("count", count, "help", Range::count());
    v("maybe", maybe, "help", Range::at_least(0));
    v("free", free, "help");
  }
};

std::string refusal(const Options& options) {
  try {
    validate(options, "owner");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Range, HoldsItsEndsUnlessOpen) {
  EXPECT_FALSE(Range::positive().holds(0.0));
  EXPECT_TRUE(Range::positive().holds(std::numeric_limits<double>::denorm_min()));
  EXPECT_TRUE(Range::at_least(2.0).holds(2.0));
  EXPECT_FALSE(Range::at_least(2.0).holds(1.9));
  EXPECT_TRUE(Range::between(1, 5).holds(1.0));
  EXPECT_TRUE(Range::between(1, 5).holds(5.0));
  EXPECT_FALSE(Range::between(1, 5).holds(5.1));
  EXPECT_TRUE(Range{}.holds(-infinity));
}

TEST(Range, CountsAreWholeAndAtLeastOne) {
  EXPECT_TRUE(Range::count().holds(1.0));
  EXPECT_TRUE(Range::count().holds(1e9));
  EXPECT_FALSE(Range::count().holds(0.0));
  EXPECT_FALSE(Range::count().holds(2.5));
}

TEST(Range, NoRangeHoldsANan) {
  for (const Range& range : {Range{}, Range::positive(), Range::at_least(0), Range::between(0, 1), Range::count()})
    EXPECT_FALSE(range.holds(nan_value)) << range.text();
}

TEST(Range, TellsPeopleWhatItHolds) {
  EXPECT_EQ(Range::positive().text(), "> 0");
  EXPECT_EQ(Range::at_least(2).text(), "≥ 2");
  EXPECT_EQ(Range::between(1, 5).text(), "in [1, 5]");
  EXPECT_TRUE(Range{}.unrestricted());
  EXPECT_FALSE(Range::positive().unrestricted());
  EXPECT_FALSE(Range::between(1, 5).unrestricted());
}

TEST(EnumNames, AValueHasItsNameAndAStrangerNone) {
  EXPECT_EQ(name_of(Mood::wild), "wild");
  EXPECT_EQ(name_of(Mood::unnamed), "?");
}

TEST(Validate, AcceptsWhatLiesInItsRanges) { EXPECT_EQ(refusal({}), "accepted"); }

TEST(Validate, NamesTheOwnerTheOptionTheValueAndTheRange) {
  Options o;
  o.whole = 6;
  const std::string message = refusal(o);
  for (const char* part : {"owner.whole", "6", "[1, 5]"}) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Validate, LooksAtNumbersOfEveryKind) {
  const auto refused = [](auto change, const char* name) {
    Options o;
    change(o);
    const std::string message = refusal(o);
    EXPECT_NE(message.find("owner." + std::string(name)), std::string::npos) << message;
  };
  refused([](Options& o) { o.positive = 0.0; }, "positive");
  refused([](Options& o) { o.positive = nan_value; }, "positive");
  refused([](Options& o) { o.whole = 0; }, "whole");
  refused([](Options& o) { o.schedule = Schedule(-0.1); }, "schedule");
  refused([](Options& o) { o.schedule = Schedule(-0.1, 0.5); }, "schedule");
  refused([](Options& o) { o.schedule = Schedule(nan_value, 0.5); }, "schedule");
  refused([](Options& o) { o.count = 2.5; }, "count");
  refused([](Options& o) { o.maybe = -1.0; }, "maybe");
}

TEST(Validate, OnlyAnOuterStepMayRest) {
  struct Steps {
    Schedule outer = 1.0, inner = 1.0;
    void describe(const RangeCheck& v) {
      v("outer", outer, "help", Range::outer_step());
      v("inner", inner, "help", Range::positive());
    }
  };
  Schedule late(0.1), fading(0.1);
  late.from = 80;
  fading.cosine = 400;
  for (const auto& [resting, part] : {std::pair<Schedule, std::string>{late, "80"}, {fading, "400"}}) {
    EXPECT_NO_THROW(validate(Steps{.outer = resting}, "owner"));
    try {
      validate(Steps{.inner = resting}, "owner");
      ADD_FAILURE() << "accepted";
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("owner.inner"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
}

TEST(Validate, ChangesOfAScheduleRiseAndArePositive) {
  for (const auto& [at, value] : {std::pair<Round, double>{5, 1.0}, {4, 1.0}, {9, 0.0}, {9, -1.0}, {9, infinity}}) {
    Options o;
    o.schedule.changes.add(5, 1.0);
    o.schedule.changes.add(at, value);
    EXPECT_NE(refusal(o).find("owner.schedule"), std::string::npos) << at << ", " << value;
  }
}

TEST(Validate, AScheduleOfCountsMayHaveFractionsAsItIsRoundedUp) {
  Options o;
  o.count = Schedule(0.5, 0.5);
  EXPECT_EQ(refusal(o), "accepted");
}

TEST(Validate, LeavesTheOptionsAlone) {
  Options o;
  o.positive = 0.25;
  o.maybe = 3.0;
  validate(o, "owner");
  EXPECT_EQ(o.positive, 0.25);
  EXPECT_EQ(o.maybe, 3.0);
}

RC_GTEST_PROP(RangeProperty, BetweenHoldsExactlyWhatLiesBetween, (int a, int b, int v)) {
  const Range range = Range::between(std::min(a, b), std::max(a, b));
  RC_ASSERT(range.holds(v) == (std::min(a, b) <= v && v <= std::max(a, b)));
}

}  // namespace
