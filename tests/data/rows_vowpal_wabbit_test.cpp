#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::reader_of;
using test::refusal;
using test::rows_of;
using Rows = std::vector<DataRow>;
using Names = std::vector<std::string>;

const RowOptions vw{.format = "vw"};

TEST(VowpalWabbitRowsTest, LabelsWeightsTagsNamespacesAndValuesAreRead) {
  auto reader = reader_of(
      "1 2.5 'first|user age:0.5 old |item:2 red size:3\n"
      "-1 |user age:2\n"
      "spam 1 tag|  a\n",
      vw);
  const Rows expected{{"1",
                       2.5,
                       "first",
                       {{0, row_key("user", "age"), 0.5F},
                        {0, row_key("user", "old"), 1},
                        {1, row_key("item", "red"), 2},
                        {1, row_key("item", "size"), 6}}},
                      {"-1", 1, "", {{0, row_key("user", "age"), 2}}},
                      {"spam", 1, "tag", {{2, row_key("", "a"), 1}}}};
  EXPECT_EQ(test::all_rows(*reader), expected);
  EXPECT_EQ(reader->groups(), (Names{"user", "item", ""}));
  EXPECT_EQ(reader->place(), "f:3");
  EXPECT_EQ(reader->describe(), "Vowpal Wabbit's text; features are hashed by Obolus' own hash");
}

TEST(VowpalWabbitRowsTest, LabelsMayBeAbsent) {
  const std::vector<RowFeature> a{{0, row_key("", "a"), 1}};
  EXPECT_EQ(rows_of("| a\n 'x | a\nx| a\n'|a\n", vw),
            (Rows{{"", 1, "", a}, {"", 1, "x", a}, {"", 1, "x", a}, {"", 1, "", {}}}));
}

TEST(VowpalWabbitRowsTest, NamespacesMayBeEmptyComeAgainAndFollowAWord) {
  auto reader = reader_of("1 |n a|m b |n a:2\r\n\r\n1 |n\n", vw);
  EXPECT_EQ(test::all_rows(*reader),
            (Rows{{"1", 1, "", {{0, row_key("n", "a"), 1}, {1, row_key("m", "b"), 1}, {0, row_key("n", "a"), 2}}},
                  {"1", 1, "", {}}}));
  EXPECT_EQ(reader->groups(), (Names{"n", "m"}));
}

TEST(VowpalWabbitRowsTest, NamesAreBytes) {
  EXPECT_EQ(rows_of("1 |n \xFF\xFE:2 größe\n", vw).at(0).features,
            (std::vector<RowFeature>{{0, row_key("n", "\xFF\xFE"), 2}, {0, row_key("n", "größe"), 1}}));
}

TEST(VowpalWabbitRowsTest, ErrorsNameWhatWasFoundWhere) {
  const auto says = [](const std::string& line) { return refusal("1 | a\n" + line + "\n", vw); };
  EXPECT_EQ(says("1 a b"), "f:2:6: got the end of the line, expected | and features");
  EXPECT_EQ(says("1:0.5 2:1 | a"),
            "f:2:1: got \"1:0.5\", expected a plain label: costs and probabilities by label are not supported");
  EXPECT_EQ(says("shared | a"), "f:2:1: got \"shared\", expected a plain label: multi-line examples are not supported");
  EXPECT_EQ(says("1,2 | a"), "f:2:1: got \"1,2\", expected one label: multi-label rows are not supported");
  EXPECT_EQ(says("1 1 0.5 't | a"),
            "f:2:5: got \"0.5\", expected a tag or |: an initial prediction (base) is not supported");
  EXPECT_EQ(
      says("1| a"),
      "f:2:1: got \"1\" right before |, which makes it a tag, expected a blank before | if it is the label or the "
      "weight, an apostrophe if it is a tag");
  EXPECT_EQ(says("1 't 2 | a"), "f:2:6: got \"2\", expected | after the tag");
  EXPECT_EQ(says("1 -2 | a"), "f:2:3: got \"-2\", expected a weight, 0 or more");
  EXPECT_EQ(says("1 x | a"), "f:2:3: got \"x\", expected a weight, 0 or more");
  EXPECT_EQ(says("1 |n:x a"), "f:2:6: got \"x\", expected a number");
  EXPECT_EQ(says("1 |n a:b:1"), "f:2:8: got \"b:1\", expected a number");
  EXPECT_EQ(says("1 |n a:nan"), "f:2:8: got \"nan\", expected a finite number");
  EXPECT_EQ(says("1 |n :1"), "f:2:6: got \":1\", expected a feature's name before the colon");
  EXPECT_EQ(says("1 |n:1e30 a:1e30"), "f:2:11: got \"a:1e30\" times its scale, expected a value up to 3.4e38");
}

TEST(VowpalWabbitRowsTest, NamespacesCannotFillTheMemory) {
  std::string text = "1";
  for (int i = 0; i < 65'536; ++i) text += fmt::format(" |n{} a", i);
  EXPECT_EQ(refusal(text + "\n1 |n5 b\n", vw), "accepted");
  EXPECT_EQ(refusal(text + "\n1 |more b\n", vw), "f:2:4: got one more namespace, \"more\", expected at most 65536");
}

std::string name_from(const std::string& letters) {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(letters)));
}

RC_GTEST_PROP(VowpalWabbitRowsProperty, WhatIsWrittenIsRead, ()) {
  Rows rows;
  Names groups;
  std::string text;
  const auto count = *rc::gen::inRange(0, 15);
  for (int r = 0; r < count; ++r) {
    DataRow row;
    if (*rc::gen::arbitrary<bool>()) {
      row.label = name_from("-1234567890");
      text += row.label + " ";
      if (*rc::gen::arbitrary<bool>()) {
        row.weight = *rc::gen::inRange(0, 9) / 4.0;
        text += fmt::format("{} ", row.weight);
      }
    }
    if (*rc::gen::arbitrary<bool>()) text += "'" + (row.tag = name_from("ab1'"));
    const auto spaces = *rc::gen::inRange(1, 4);
    for (int n = 0; n < spaces; ++n) {
      const std::string name = name_from("xyz");
      text += " |" + name;
      const auto at = std::find(groups.begin(), groups.end(), name);
      const auto group = static_cast<std::uint32_t>(at - groups.begin());
      if (at == groups.end()) groups.push_back(name);
      const auto features = *rc::gen::inRange(0, 5);
      for (int i = 0; i < features; ++i) {
        const std::string feature = name_from("ab'#,.\\\"é");
        const auto value = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 7.0F;
        text += fmt::format(" {}:{}", feature, value);
        row.features.push_back({group, row_key(name, feature), value});
      }
    }
    text += "\n";
    rows.push_back(row);
  }
  auto reader = reader_of(text, vw);
  RC_ASSERT(test::all_rows(*reader) == rows);
  RC_ASSERT(reader->groups() == groups);
}

}  // namespace
