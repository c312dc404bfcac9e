#include "data/streams/text_row.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "obolus/data/rows.hpp"
#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;

using test::TextBytes;

TEST(TextRow, PartsAreNamespacesAndRepeatedWordsWeighMoreByTheirLogarithm) {
  const std::array<TextPart, 2> parts{{{"title", "Gold"}, {"body", "b: gold|GOLD, silver's\tgold:1 a"}}};
  // 1 + ln 3 = 2.0986…; 1/√(1 + 2.0986² + 1) = 0.395156…: gold and silver once, gold three times.
  EXPECT_EQ(text_row(2, "7", parts, Encoding::utf8), "2 '7|title:0.395156 gold |body:0.395156 gold:2.099 silver\n");
}

TEST(TextRow, WhatTheReaderOfRowsReadsHasLengthOne) {
  const std::array<TextPart, 3> parts{
      {{"subject", "Caf\xE9 caf\xC9"}, {"from", ""}, {"body", "one two two three three three"}}};
  const auto rows =
      read_rows(std::make_unique<TextBytes>(text_row(1, "spam-1/00001", parts, Encoding::latin1)), "here.vw");
  DataRow row;
  ASSERT_TRUE(rows->next(row));
  EXPECT_EQ(row.label, "1");
  EXPECT_EQ(row.tag, "spam-1/00001");
  EXPECT_EQ(rows->groups(), (std::vector<std::string>{"subject", "body"}));
  ASSERT_EQ(row.features.size(), 4u);
  EXPECT_EQ(row.features[0].key, row_key("subject", "caf\xC3\xA9"));
  double square = 0;
  for (const RowFeature& f : row.features) square += double(f.value) * f.value;
  EXPECT_NEAR(square, 1, 2e-3);  // weights are written with four digits: relative errors of 5e-4, twice in a square
}

TEST(TextRow, ATextWithoutWordsIsARowWithoutFeatures) {
  const std::array<TextPart, 1> parts{{{"body", "a | : ?"}}};
  EXPECT_EQ(text_row(1, "x", parts, Encoding::utf8), "1 'x|\n");
  const auto rows = read_rows(std::make_unique<TextBytes>("1 'x|\n"), "here.vw");
  DataRow row;
  ASSERT_TRUE(rows->next(row));
  EXPECT_TRUE(row.features.empty());
}

}  // namespace
