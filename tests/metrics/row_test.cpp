#include "obolus/metrics/row.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace obolus::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Row measured_row() {
  Row row;
  row.t = 7;
  row.measured = row.has_regret = row.has_residuals = true;
  for (double value = 1; const RowColumn& column : row_columns) column.set(row, value++);
  return row;
}

TEST(Row, describes_every_column_and_names_none_twice) {
  std::set<std::string_view> names, labels;
  for (const RowColumn& column : row_columns) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_TRUE(labels.insert(column.label).second) << column.label;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
  }
}

TEST(Row, a_fresh_row_has_only_what_every_round_has) {
  for (const RowColumn& column : row_columns) EXPECT_EQ(column.present(Row{}), column.when == When::always);
  for (const RowColumn& column : row_columns) EXPECT_TRUE(column.present(measured_row())) << column.name;
}

TEST(Row, a_checkpoint_keeps_all_but_what_follows_from_the_rest) {
  Row before = measured_row(), after;
  before.counts = {1, 2, 3, 4, 5, 6, 7, 8};
  Archive saved;
  before.fields(saved);
  Archive loaded(saved.bytes());
  after.fields(loaded);
  loaded.finish();
  EXPECT_EQ(after.t, before.t);
  for (const RowColumn& column : row_columns) {
    if (column.is(RowColumn::no_checkpoint) && column.name != "seconds") continue;
    EXPECT_EQ(column.number(after), column.number(before)) << column.name;
  }
}

TEST(Row, a_checkpoint_without_the_columns_that_were_added_is_read) {
  Row before = measured_row(), after;
  Archive saved;
  before.fields(saved);
  std::vector<std::byte> bytes = saved.bytes();
  for (const RowColumn& column : row_columns) {
    if (!column.is(RowColumn::added)) continue;
    std::string name(column.name);  // name, type, count and the number itself
    name += '\0';
    const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end(),
                                [](std::byte byte, char c) { return byte == static_cast<std::byte>(c); });
    ASSERT_NE(at, bytes.end()) << column.name;
    bytes.erase(at, at + static_cast<std::ptrdiff_t>(name.size() + 1 + sizeof(std::uint64_t) + sizeof(double)));
  }
  Archive loaded(bytes);
  after.fields(loaded);
  loaded.finish();
  EXPECT_EQ(after.own_mapping, before.own_mapping);
  EXPECT_TRUE(std::isnan(after.window_regret) && std::isnan(after.trailing_regret));
}

TEST(Row, the_first_number_that_is_not_finite_is_named) {
  EXPECT_EQ(non_finite(Row{}), "");
  Row row = measured_row();
  EXPECT_EQ(non_finite(row), "");
  row.residual_z = infinity;
  EXPECT_EQ(non_finite(row), "residual_z");
  row.g = Row::absent;
  EXPECT_EQ(non_finite(row), "g");
  row.measured = row.has_residuals = false;
  EXPECT_EQ(non_finite(row), "");
  row.evaluation.add("accuracy", Row::absent);
  EXPECT_EQ(non_finite(row), "accuracy");
}

// The sum of finite terms may overflow, and |y − z|/|z| has no value at z = 0: neither ends a run.
TEST(Row, totals_and_numbers_that_may_be_missing_do_not_end_a_run) {
  Row row = measured_row();
  row.regret = infinity;
  row.separation = infinity;
  EXPECT_EQ(non_finite(row), "");
}

}  // namespace
}  // namespace obolus::test
