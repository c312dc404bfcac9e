#include "fit/model/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "obolus/core/rng.hpp"

namespace obolus {
namespace {

using fit::Columns;
using Names = std::vector<std::string>;

// Ours, of the reader's so many groups.
std::vector<int> numbers(const Columns& columns) {
  std::vector<int> all;
  for (const fit::KnownColumn& c : columns.of_reader()) all.push_back(c.number);
  return all;
}

TEST(Columns, AreKnownByNameInWhateverOrder) {
  Columns columns;
  columns.set_groups(Names{"a", "b"});
  columns.set_groups(Names{"a", "b", "c"});  // the same reader has met more
  EXPECT_EQ(columns.names(), (Names{"a", "b", "c"}));
  EXPECT_EQ(numbers(columns), (std::vector{0, 1, 2}));
  columns.set_groups(Names{"c", "d", "a"});  // another one
  EXPECT_EQ(columns.names(), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(numbers(columns), (std::vector{2, 3, 0}));
  columns.set_groups(Names{"c"});
  EXPECT_EQ(numbers(columns), (std::vector{2}));
  EXPECT_EQ(columns.find("d").number, 3);
  EXPECT_EQ(columns.find("d", 3).number, 3);
  EXPECT_EQ(columns.find("d", 1).key, columns.find("d").key);
  EXPECT_EQ(columns.find("e").number, -1);
  EXPECT_EQ(columns.find("e").key, row_key("e", ""));
}

// Welford's sums against two passes: n values of about 1e3 round their squares by n ε 1e6, next to a variance of 4.
TEST(Columns, AreStandardisedByTheRowsSoFar) {
  Columns columns;
  columns.set_groups(Names{"a", "b"});
  Rng rng(1);
  std::vector<double> seen;
  for (int t = 0; t < 300; ++t) {
    seen.push_back(1000 + 2 * rng.normal());
    columns.see(1, seen.back());
    double mean = 0, squares = 0;
    for (const double v : seen) mean += v / static_cast<double>(seen.size());
    for (const double v : seen) squares += (v - mean) * (v - mean) / static_cast<double>(seen.size());
    const double expected = t == 0 ? 0 : (seen.back() - mean) / std::sqrt(squares);
    EXPECT_NEAR(static_cast<double>(columns.standardised(1, seen.back())), expected, 1e-6);  // a float
  }
  EXPECT_EQ(columns.standardised(0, 5.0), 0.0F);  // never seen
  EXPECT_EQ(columns.standardised(1, 1e30), 10.0F);
  EXPECT_EQ(columns.standardised(1, -1e30), -10.0F);
}

TEST(Columns, ThatAreConstantSayNothing) {
  Columns columns;
  columns.set_groups(Names{"a"});
  for (int t = 0; t < 50; ++t) columns.see(0, 0.1);
  EXPECT_EQ(columns.standardised(0, 0.1), 0.0F);
}

TEST(Columns, StayFiniteWhateverFloatsTheySee) {
  Columns columns;
  columns.set_groups(Names{"a"});
  for (const double value : {3e38, -3e38, 1e-45, 0.0, 1.0, 3e38}) {
    columns.see(0, value);
    EXPECT_TRUE(std::isfinite(columns.standardised(0, value)));
  }
}

TEST(Columns, AreTheSameAfterLoadingAndForgetTheReader) {
  Columns columns;
  columns.set_groups(Names{"a", "b"});
  for (const double v : {1.0, 2.0, 4.0}) columns.see(1, v);
  Archive to;
  columns.fields(to);
  Columns loaded;
  Archive from(to.bytes());
  loaded.fields(from);
  from.finish();
  EXPECT_EQ(loaded.names(), columns.names());
  EXPECT_EQ(loaded.find("b").key, columns.find("b").key);
  EXPECT_EQ(loaded.standardised(1, 3.0), columns.standardised(1, 3.0));
  EXPECT_TRUE(loaded.of_reader().empty());
  loaded.set_groups(Names{"b"});
  EXPECT_EQ(numbers(loaded), (std::vector{1}));
}

TEST(Columns, AreRefusedWhereASavedOneStandsThereTwice) {
  Archive to;
  std::uint64_t count = 2;
  to("columns", count);
  for (int i = 0; i < 2; ++i) {
    std::string name = "a";
    std::uint64_t key = 1;
    double zero = 0;
    to("name", name);
    to("key", key);
    to("rows", zero);
    to("mean", zero);
    to("squares", zero);
  }
  Archive from(to.bytes());
  Columns columns;
  EXPECT_THROW(columns.fields(from), DataError);
}

}  // namespace
}  // namespace obolus
