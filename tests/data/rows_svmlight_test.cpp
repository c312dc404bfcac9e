#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::description;
using test::reader_of;
using test::refusal;
using test::rows_of;
using Rows = std::vector<DataRow>;

const RowOptions svmlight{.format = "svmlight"};
const RowOptions from_zero{.format = "svmlight", .index_base = IndexBase::zero};
const RowOptions from_one{.format = "svmlight", .index_base = IndexBase::one};

TEST(SvmlightRowsTest, LabelsAndPairsAreReadAsWritten) {
  const Rows expected{{"+1", 1, "", {{0, 1, 0.5F}, {0, 7, -2}}}, {"-1", 1, "", {}}, {"2.5", 1, "", {{0, 3, 1e-3F}}}};
  EXPECT_EQ(rows_of("+1 1:0.5 7:-2\n-1\n2.5 3:1e-3\n", svmlight), expected);
}

TEST(SvmlightRowsTest, CommentsEmptyLinesTabsAndLineEndsOfWindowsDoNotMatter) {
  const Rows expected{{"1", 1, "", {{0, 1, 2}, {0, 4, 3}}}, {"0", 1, "", {{0, 2, 1}}}};
  EXPECT_EQ(rows_of("# head 5:x\r\n\r\n 1\t1:2  4:+3 # 9:9\r\n   \n0 2:1 #", svmlight), expected);
}

TEST(SvmlightRowsTest, IndicesNeedNotAscendAndGoUpTo64Bits) {
  const Rows expected{{"1", 1, "", {{0, 18446744073709551615u, 1}, {0, 5, 2}}}};
  EXPECT_EQ(rows_of("1 18446744073709551615:1 5:2\n", svmlight), expected);
}

TEST(SvmlightRowsTest, AQueryIdIsIgnoredAndSaid) {
  auto reader = reader_of("1 qid:3 1:2\n", svmlight);
  DataRow row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row, (DataRow{"1", 1, "", {{0, 1, 2}}}));
  EXPECT_EQ(reader->describe(), "svmlight, indices from one (no index 0 in the first 1 rows); qid is ignored");
}

TEST(SvmlightRowsTest, RowsWithoutLabelAreForPrediction) {
  EXPECT_EQ(refusal("1:2 3:4\n", svmlight), "f:1:1: got \"1:2\", expected a label first");
  const RowOptions unlabelled{.format = "svmlight", .labelled = false};
  EXPECT_EQ(rows_of("1:2 3:4\n5 1:1\n", unlabelled),
            (Rows{{"", 1, "", {{0, 1, 2}, {0, 3, 4}}}, {"5", 1, "", {{0, 1, 1}}}}));
}

TEST(SvmlightRowsTest, TheIndexBaseIsDecidedByTheFirstRowsAndSaid) {
  EXPECT_EQ(description("1 1:1\n1 0:1\n", svmlight), "svmlight, indices from zero (index 0 stands in row 2)");
  EXPECT_EQ(description("1 1:1\n1 2:1\n", svmlight), "svmlight, indices from one (no index 0 in the first 2 rows)");
  EXPECT_EQ(description("1 1:1\n", from_zero), "svmlight, indices from zero (as given)");
  EXPECT_EQ(reader_of("1 1:1\n", svmlight)->index_base(), 1);
  EXPECT_EQ(reader_of("1 0:1\n", svmlight)->index_base(), 0);
  EXPECT_EQ(rows_of("1 1:1\n1 0:1\n", svmlight).at(1).features.at(0).key, 0u);  // keys stay as written
}

TEST(SvmlightRowsTest, AZeroThatComesLaterExplainsTheTrap) {
  RowOptions short_sighted = svmlight;
  short_sighted.look_ahead = 2;
  EXPECT_EQ(
      refusal("1 1:1\n1 2:1\n1 4:1 0:1\n", short_sighted),
      "f:3:7: got index 0, expected indices from 1: the first 2 rows had no index 0, so the file was taken to count "
      "from one; if it counts from zero, set the index base to zero");
  EXPECT_EQ(
      refusal("1 0:1\n", from_one),
      "f:1:3: got index 0, expected indices from 1, as the index base says; if the file counts from zero, set it to "
      "zero");
  EXPECT_EQ(refusal("1 0:1\n", from_zero), "accepted");
}

TEST(SvmlightRowsTest, ErrorsNameWhatWasFoundWhere) {
  const auto says = [](const std::string& line) { return refusal("1 1:1\n" + line + "\n", svmlight); };
  EXPECT_EQ(says("1,3 1:2"),
            "f:2:1: got several labels, \"1,3\", expected one label: multi-label rows are not supported");
  EXPECT_EQ(says("yes 1:2"), "f:2:1: got \"yes\", expected a number as the label");
  EXPECT_EQ(says("1 1:2 7"), "f:2:7: got \"7\", expected INDEX:VALUE");
  EXPECT_EQ(says("1 -1:2"), "f:2:3: got index \"-1\", expected a whole number, 0 to 2^64 - 1");
  EXPECT_EQ(says("1 a:2"), "f:2:3: got index \"a\", expected a whole number, 0 to 2^64 - 1");
  EXPECT_EQ(says("1 99999999999999999999:2"),
            "f:2:3: got index \"99999999999999999999\", expected a whole number, 0 to 2^64 - 1");
  EXPECT_EQ(says("1 1:x"), "f:2:5: got \"x\", expected a number");
  EXPECT_EQ(says("1 1:"), "f:2:5: got \"\", expected a number");
  EXPECT_EQ(says("1 1:1,5"), "f:2:5: got \"1,5\", expected a number");
  EXPECT_EQ(says("1 1:nan"), "f:2:5: got \"nan\", expected a finite number");
  EXPECT_EQ(says("1 1:-inf"), "f:2:5: got \"-inf\", expected a finite number");
  EXPECT_EQ(says("1 1:1e39"), "f:2:5: got \"1e39\", expected a number that a 32-bit float can hold (at most 3.4e38)");
  EXPECT_EQ(says("1 3:1 2:1 3:4"), "f:2:11: got index 3 again (first in column 3), expected each index once per row");
  EXPECT_EQ(says("1 3:1 3:4"), "f:2:7: got index 3 again (first in column 3), expected each index once per row");
}

RC_GTEST_PROP(SvmlightRowsProperty, WhatIsWrittenIsRead, ()) {
  Rows rows;
  std::string text;
  const auto count = *rc::gen::inRange(0, 20);
  for (int r = 0; r < count; ++r) {
    DataRow row;
    row.label = std::to_string(*rc::gen::inRange(-3, 4));
    text += row.label;
    for (const auto key : *rc::gen::arbitrary<std::set<std::uint64_t>>()) {
      const auto value = static_cast<float>(*rc::gen::inRange(-100'000, 100'000)) / 77.0F;
      row.features.push_back({0, key, value});
      text += fmt::format(" {}:{}", key, value);  // the shortest text that reads back
    }
    text += *rc::gen::element<std::string>("\n", "\r\n", " # c\n", "\n\n");
    rows.push_back(row);
  }
  RC_ASSERT(rows_of(text, from_zero) == rows);
}

}  // namespace
