// FitReader: what Fit::predict says, from a fit that is not written to.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <utility>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/fit/fit.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/fit/fit_stream.hpp"

namespace obolus {
namespace {

using test::data_row;
using test::fit_options;
using test::FitStream;
using test::saved;

struct Case {
  const char* name;
  FitOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> all(8);
  for (Case& c : all) c.options = fit_options();
  all[0].name = "an L2 a feature";
  all[1].name = "an L2 a group";
  all[1].options.tune = "rate,l2-per-group,replay,temperature";
  all[2].name = "numbers";
  all[2].options.task = FitTask::numbers;
  all[3].name = "hashed and not scaled";
  all[3].options.hash_bits = 3;
  all[3].options.scale = FitScale::none;
  all[4].name = "delayed";
  all[4].options.delay = 5;
  all[5].name = "two classes";
  all[5].options.classes = "low,high";
  all[6].name = "one L2 for all";
  all[6].options.tune = "rate,l2";
  all[7].name = "numbers in any range, not blended, an L2 a group";
  all[7].options.task = FitTask::numbers;
  all[7].options.range = FitRange::any;
  all[7].options.blend = FitBlend::none;
  all[7].options.tune = "rate,l2-per-group";
  return all;
}

class Rows {
 public:
  explicit Rows(const FitOptions& o, std::uint64_t seed = 5) : stream_(seed, o.task), two_(!o.classes.empty()) {}
  DataRow next() {
    DataRow row = stream_.next();
    if (two_) row.label = row.label == "a" ? "low" : "high";
    return row;
  }

 private:
  FitStream stream_;
  bool two_;
};

Fit taught(const Case& c, int rows) {
  Fit fit(c.options);
  fit.set_groups(FitStream::groups(), true);
  Rows stream(c.options);
  for (int t = 0; t < rows; ++t) fit.learn(stream.next());
  return fit;
}

// Groups as another table might have them: in another order, and with a column that no fit knows.
const std::vector<std::string> turned{"height", "unheard of", "word", "width"};
DataRow turn(DataRow row, float unheard) {
  constexpr std::array<std::uint32_t, 3> place{3, 2, 0};
  for (RowFeature& f : row.features) {
    const bool number = f.key == f.group;
    f.group = place[f.group];
    if (number) f.key = f.group;
  }
  row.features.push_back({1, 1, unheard});
  return row;
}

void expect_same(const Prediction& got, const Prediction& expected) {
  EXPECT_EQ(got.best, expected.best);
  EXPECT_EQ(got.probabilities, expected.probabilities);
  EXPECT_EQ(got.number, expected.number);
  EXPECT_EQ(got.informed, expected.informed);
  EXPECT_EQ(got.features, expected.features);
  EXPECT_EQ(got.truth, -1);
}

TEST(FitReader, PredictsToTheBitsOfTheFit) {
  for (const Case& c : cases())
    for (const int rows : {0, 1, 2, 7, 30, 61}) {
      SCOPED_TRACE(std::string(c.name) + " after " + std::to_string(rows));
      Fit fit = taught(c, rows);
      FitReader reader;
      Rows stream(c.options, 6);
      for (int t = 0; t < 20; ++t) {
        const DataRow row = stream.next();
        const Prediction expected = fit.predict(row);
        expect_same(reader.predict(std::as_const(fit), row, FitStream::groups()), expected);
      }
    }
}

TEST(FitReader, FindsColumnsByNameAndLeavesThoseThatItDoesNotKnow) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Fit fit = taught(c, 40);
    const auto before = saved(fit);
    FitReader reader;
    Rows stream(c.options, 6);
    std::vector<Prediction> got;
    std::vector<DataRow> rows;
    for (int t = 0; t < 20; ++t) rows.push_back(turn(stream.next(), 0.5F));
    for (const DataRow& row : rows) got.push_back(reader.predict(std::as_const(fit), row, turned));
    EXPECT_TRUE(saved(fit) == before);
    EXPECT_EQ(fit.groups(), FitStream::groups());
    if (c.options.tune.find("group") != std::string::npos) continue;  // the fit makes room for a new column's L2
    fit.set_groups(turned, true);
    for (std::size_t t = 0; t < rows.size(); ++t) expect_same(got[t], fit.predict(rows[t]));
  }
}

TEST(FitReader, FollowsFitsThatComeAndColumnsThatGrow) {
  const Case c = cases()[0];
  Fit known = taught(c, 40), other(c.options);
  other.set_groups(std::vector<std::string>{"height"}, true);
  FitReader reader;
  Rows stream(c.options);
  for (int t = 0; t < 40; ++t) {
    if (t == 20) other.set_groups(turned, true);
    const DataRow row = stream.next(), turned_row = turn(row, 1.0F);
    const Prediction of_known = known.predict(row);
    expect_same(reader.predict(known, turned_row, turned), of_known);
    expect_same(reader.predict(known, row, FitStream::groups()), of_known);
    if (t < 20) {
      const DataRow first = data_row(row.label, {{0, 0, row.features[2].value}});
      const Prediction of_other = other.predict(first);
      expect_same(reader.predict(other, turned_row, turned), of_other);
      other.learn(first);
      continue;
    }
    const Prediction of_other = other.predict(turned_row);
    expect_same(reader.predict(other, turned_row, turned), of_other);
    other.learn(turned_row);
  }
}

TEST(FitReader, TakesKeysForFeaturesWhereThereAreNoNumericColumns) {
  FitOptions o = fit_options();
  Fit fit(o);
  fit.set_groups(std::vector<std::string>{""}, false);
  const DataRow row = data_row("a", {{0, 0, 1.0F}, {0, 7, 2.0F}});
  fit.learn(row);
  fit.learn(data_row("b", {{0, 7, 1.0F}}));
  FitReader reader;
  const std::vector<std::string> groups{""};
  const Prediction expected = fit.predict(row);
  expect_same(reader.predict(fit, row, groups, false), expected);
  EXPECT_EQ(reader.predict(fit, row, groups, false).features, 2u);
  EXPECT_EQ(reader.predict(fit, row, groups, true).features, 1u);
}

TEST(FitReader, RefusesValuesAndWeightsButNoLabels) {
  Case c = cases()[5];
  Fit fit = taught(c, 20);
  FitReader reader;
  const auto groups = FitStream::groups();
  EXPECT_THROW((void)reader.predict(fit, data_row("", {{0, 0, std::nanf("")}}), groups), DataError);
  EXPECT_THROW((void)reader.predict(fit, data_row("", {{0, 0, 1.0F}}, -1), groups), DataError);
  EXPECT_NO_THROW((void)reader.predict(fit, data_row("neither", {{0, 0, 1.0F}}), groups));
  EXPECT_NO_THROW((void)fit.predict(data_row("neither", {{0, 0, 1.0F}})));
}

TEST(FitReader, TakesNoMemoryOnceItIsWarm) {
  for (const Case& c : cases()) {
    const Fit fit = taught(c, 61);
    FitReader reader;
    Rows stream(c.options, 6);
    std::vector<DataRow> rows;
    for (int t = 0; t < 20; ++t) rows.push_back(turn(stream.next(), 0.5F));
    for (const DataRow& row : rows) (void)reader.predict(fit, row, turned);
    if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
    const test::AllocationCounter counter;
    for (const DataRow& row : rows) (void)reader.predict(fit, row, turned);
    EXPECT_EQ(counter.count(), 0u) << c.name;
  }
}

// For the thread sanitizer above all.
TEST(FitReader, SharesTheFitWithOtherReaders) {
  for (const Case& c : cases()) {
    Fit fit = taught(c, 61);
    Rows stream(c.options, 6);
    std::vector<DataRow> rows;
    std::vector<Prediction> expected;
    for (int t = 0; t < 50; ++t) {
      rows.push_back(stream.next());
      expected.push_back(fit.predict(rows.back()));
    }
    std::array<int, 4> different{};
    {
      std::vector<std::jthread> threads;
      for (int& count : different)
        threads.emplace_back([&, &shared = std::as_const(fit)] {
          FitReader reader;
          const auto groups = FitStream::groups();
          for (std::size_t t = 0; t < rows.size(); ++t) {
            const Prediction& p = reader.predict(shared, rows[t], groups);
            count += p.probabilities != expected[t].probabilities || p.number != expected[t].number;
          }
        });
    }
    for (const int count : different) EXPECT_EQ(count, 0) << c.name;
  }
}

}  // namespace
}  // namespace obolus
