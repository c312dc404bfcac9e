#include "problems/softmax_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

class SoftmaxRows : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name) const {
    folder_.write(name, text);
    return folder_.file(name);
  }
  test::TemporaryFolder folder_;
};

TEST_F(SoftmaxRows, KeepTheirOrderAndEveryTenthIsForTests) {
  std::string text = "size,kind,label\n";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + (i % 2 == 0 ? ",x," : ",y,") + (i < 10 ? "no\n" : "yes\n");
  const LabelledRows rows = rows_of_file(file(text, "rows.csv"));
  EXPECT_EQ(rows.classes, 2);
  EXPECT_EQ(rows.train.rows(), 18);
  EXPECT_EQ(rows.test.rows(), 2);
  EXPECT_EQ(rows.train.columns, 3);  // size, kind x, kind y
  EXPECT_EQ(rows.train_label.front(), 0);
  EXPECT_EQ(rows.train_label.back(), 1);
  // (0 − mean)/deviation over 0 … 19: mean 9.5, variance (20² − 1)/12
  EXPECT_NEAR(rows.train.value[0], -9.5 / std::sqrt(399.0 / 12), 1e-6);
  EXPECT_LT(rows.train.value[0], rows.train.value[2]);  // the next row's size
}

TEST_F(SoftmaxRows, AreTheSameFromJsonLines) {
  std::string csv = "size,kind,label\n", json;
  for (int i = 0; i < 20; ++i) {
    const std::string size = std::to_string(i), kind = i % 2 == 0 ? "x" : "y", label = i < 10 ? "no" : "yes";
    csv += size + ',' + kind + ',' + label + '\n';
    json += "{\"size\":" + size + ",\"kind\":\"" + kind + "\",\"label\":\"" + label + "\"}\n";
  }
  const LabelledRows from_csv = rows_of_file(file(csv, "rows.csv")), rows = rows_of_file(file(json, "rows.jsonl"));
  EXPECT_EQ(rows.train.value, from_csv.train.value);
  EXPECT_EQ(rows.train.column, from_csv.train.column);
  EXPECT_EQ(rows.test_label, from_csv.test_label);
}

TEST_F(SoftmaxRows, NeedTwoClasses) {
  EXPECT_THROW(static_cast<void>(rows_of_file(file("1 1:1\n1 2:1\n", "rows.svm"))), DataError);
  EXPECT_THROW(static_cast<void>(rows_of_file("")), ConfigError);
}

}  // namespace
}  // namespace obolus
