#include "trace/trace_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "obolus/core/error.hpp"

namespace {

using namespace obolus;

constexpr std::size_t max_points = 2000;

TraceRow row(Round t) { return {t, {{"f", static_cast<double>(t), false}}, {}}; }

TraceColumns columns_of(Round rounds, std::size_t max_rows = 20'000) {
  TraceColumns columns;
  for (Round t = 1; t <= rounds; ++t) {
    columns.append(row(t));
    if (columns.rows() > max_rows) columns.thin();
  }
  return columns;
}

std::vector<Round> spaced(const TraceColumns& columns, RoundAxis axis) {
  std::vector<Round> rounds;
  for (const std::size_t i : columns.spaced(*columns.find("f"), axis, max_points))
    rounds.push_back(static_cast<Round>(columns.t()[i]));
  return rounds;
}

TEST(TraceColumns, HoldWhatWasMeasuredAndNaNElsewhere) {
  TraceColumns columns;
  columns.append({1, {{"f", 2, false}}, {}});
  columns.append({2, {{"g", 3, false}, {"f", 4, false}, {"f", 5, false}, {"loss", 6, true}}, {}});
  columns.append({3, {}, {{400, true, {7, 8}}}});
  ASSERT_EQ(columns.rows(), 3u);
  const auto& numbers = columns.numbers();
  ASSERT_EQ(numbers.size(), 3u);
  EXPECT_EQ(numbers[0].name, "t");
  EXPECT_EQ(numbers[1].at(1), 4);  // the first of two
  EXPECT_TRUE(std::isnan(numbers[1].at(2)));
  EXPECT_TRUE(std::isnan(numbers[2].at(0)));
  EXPECT_EQ(columns.evaluation().at(0).at(1), 6);
  ASSERT_EQ(columns.profiles().size(), 1u);
  EXPECT_EQ(columns.profiles()[0].t, 3);
  EXPECT_EQ(columns.profiles()[0].size, 400);
  EXPECT_TRUE(columns.profiles_are_quantiles());
}

TEST(TraceColumns, KeepTheNewestAlarmsEvenOfRowsThatAreThinnedAway) {
  TraceColumns columns;
  for (Round t = 1; t <= 3000; ++t) {
    TraceRow one = row(t);
    if (t % 2 == 1) one.alarm = t % 3 == 0 ? "three" : "other";
    columns.append(one);
    if (columns.rows() > 100) columns.thin();
  }
  const auto& alarms = columns.alarms();
  ASSERT_EQ(alarms.size(), TraceColumns::max_alarms);
  EXPECT_EQ(alarms.front().t, 1001);
  EXPECT_EQ(alarms.back().t, 2999);
  for (const auto& alarm : alarms) EXPECT_EQ(alarm.by, alarm.t % 3 == 0 ? "three" : "other");
}

TEST(TraceColumns, KeepAllOfAFewPoints) {
  EXPECT_EQ(spaced(columns_of(1), RoundAxis::linear).size(), 1u);
  EXPECT_EQ(spaced(columns_of(1999), RoundAxis::linear).size(), 1999u);
}

TEST(TraceColumns, SpaceAtMostSoManyPointsEvenlyWithTheFirstAndTheLast) {
  for (const Round rounds : {2000, 2001, 3998, 3999, 10000, 123457}) {
    const std::vector<Round> t = spaced(columns_of(rounds), RoundAxis::linear);
    EXPECT_EQ(t.front(), 1);
    EXPECT_EQ(t.back(), rounds);
    EXPECT_LE(t.size(), max_points) << rounds;
    EXPECT_GE(t.size(), max_points / 2) << rounds;
    const Round step = t[1] - t[0];
    for (std::size_t i = 1; i + 1 < t.size(); ++i) ASSERT_EQ(t[i] - t[i - 1], step) << rounds;
    EXPECT_LE(t.back() - t[t.size() - 2], step);
  }
}

TEST(TraceColumns, SpacePointsTheSameWhetherRowsWereDroppedOrNot) {
  for (const RoundAxis axis : {RoundAxis::linear, RoundAxis::logarithmic})
    EXPECT_EQ(spaced(columns_of(50'000, 6'000), axis), spaced(columns_of(50'000, 100'000), axis));
}

TEST(TraceColumns, KeepRoundsThatALongerRunKeepsToo) {
  const auto shorter = spaced(columns_of(5000), RoundAxis::linear),
             longer = spaced(columns_of(40'000), RoundAxis::linear);
  std::size_t common = 0;
  for (const Round t : longer) common += std::count(shorter.begin(), shorter.end(), t) > 0 ? 1 : 0;
  EXPECT_GE(common, 5000 * longer.size() / 40'000);
}

// Measured in every tenth round only: rounds that a stride of two, from the first round on, would all miss.
TEST(TraceColumns, DropWhatIsMeasuredRarelyLast) {
  TraceColumns columns;
  for (Round t = 1; t <= 50'000; ++t) {
    TraceRow r{t, {{"lambda", 1, false}}, {}};
    if (t % 10 == 0) r.numbers.push_back({"regret", static_cast<double>(t), false});
    if (t % 1000 == 0) r.numbers.push_back({"loss", static_cast<double>(t), true});
    columns.append(r);
    if (columns.rows() > 20'000) columns.thin();
  }
  EXPECT_LE(columns.rows(), 20'000u);
  EXPECT_EQ(columns.t().back(), 50'000);
  std::size_t regrets = 0, losses = 0;
  for (std::size_t i = 0; i < columns.rows(); ++i) {
    regrets += std::isfinite(columns.find("regret")->at(i)) ? 1 : 0;
    losses += std::isfinite(columns.evaluation().front().at(i)) ? 1 : 0;
  }
  EXPECT_EQ(regrets, 5000u);
  EXPECT_EQ(losses, 50u);
}

// A column that lacks some numbers keeps the rows that the others keep, and a few more.
TEST(TraceColumns, ShareRowsWhereSomeNumbersAreMissing) {
  TraceColumns columns;
  for (Round t = 1; t <= 25'000; ++t) {
    TraceRow r = row(t);
    if (t % 1000 != 1) r.numbers.push_back({"capped", 0, false});
    columns.append(r);
    if (columns.rows() > 20'000) columns.thin();
  }
  EXPECT_GE(columns.rows(), 12'500u);
  EXPECT_LE(columns.rows(), 12'500u + 25 + 400);  // half, the missing ones, and the logarithmic bins
}

TEST(TraceColumns, CanBeThinnedToTheFirstAndTheLastRow) {
  TraceColumns columns = columns_of(1000);
  for (int i = 0; i < 100; ++i) columns.thin();
  EXPECT_EQ(columns.t(), (std::vector<double>{1, 1000}));
}

TEST(TraceColumns, RefuseNamesWithoutEnd) {
  TraceRow many{1, {}, {}};
  for (int i = 0; i < 2000; ++i) many.numbers.push_back({"n" + std::to_string(i), 1, false});
  TraceColumns columns;
  EXPECT_THROW(columns.append(many), DataError);
}

}  // namespace
