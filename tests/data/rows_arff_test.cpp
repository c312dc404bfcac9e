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

const RowOptions arff{.format = "arff"};

const std::string head =
    "% a comment\n"
    "@RELATION 'wine and water'\n"
    "\n"
    "@attribute width REAL  % in cm\n"
    "@Attribute 'the colour' {red, 'dark blue', \"it\"}\n"
    "@attribute note string\n"
    "@attribute class {a,b}\n"
    "@data\n";

TEST(ArffRowsTest, DenseRowsAreReadByTheirAttributes) {
  auto reader = reader_of(head + "1.5, 'dark blue', 'a, b\\'s \\\\ %', b\n% no row\n-2,red,\"x\",a % end\n", arff);
  const Rows expected{
      {"b", 1, "", {{0, 0, 1.5F}, {1, row_key("the colour", "dark blue"), 1}, {2, row_key("note", "a, b's \\ %"), 1}}},
      {"a", 1, "", {{0, 0, -2}, {1, row_key("the colour", "red"), 1}, {2, row_key("note", "x"), 1}}}};
  EXPECT_EQ(test::all_rows(*reader), expected);
  EXPECT_EQ(reader->groups(), (Names{"width", "the colour", "note"}));
  EXPECT_EQ(reader->place(), "f:11");
  EXPECT_EQ(reader->describe(), "ARFF, 4 attributes: label class, 1 numeric (width), 2 categorical (the colour, note)");
}

TEST(ArffRowsTest, AMissingValueIsABareQuestionMark) {
  EXPECT_EQ(rows_of(head + "?,?,'?',?\n", arff),
            (Rows{{"", 1, "", {{0, row_key("width", "missing"), 1}, {2, row_key("note", "?"), 1}}}}));
}

TEST(ArffRowsTest, TabsMayPartValuesAndWeightsStandInBraces) {
  const Rows expected{{"b", 2.5, "", {{0, 0, 1}, {1, row_key("the colour", "red"), 1}, {2, row_key("note", "n"), 1}}}};
  EXPECT_EQ(rows_of(head + "1\tred\tn\tb, {2.5}\n", arff), expected);
  EXPECT_EQ(rows_of(head + "{0 1, 2 n, 3 b}, {2.5}\n", arff).at(0).weight, 2.5);
}

// The trap of sparse ARFF: what is left out is the first value, and that holds for the class too.
TEST(ArffRowsTest, WhatASparseRowLeavesOutIsZeroOrTheFirstValue) {
  const std::uint64_t red = row_key("the colour", "red");
  EXPECT_EQ(rows_of(head + "{}\n{3 b, 0 4}\n{ 1 'dark blue' }\n", arff),
            (Rows{{"a", 1, "", {{1, red, 1}}},
                  {"b", 1, "", {{0, 0, 4}, {1, red, 1}}},
                  {"a", 1, "", {{1, row_key("the colour", "dark blue"), 1}}}}));
}

TEST(ArffRowsTest, TheClassIsGivenByNameOrPosition) {
  RowOptions options = arff;
  options.label = "the colour";
  options.ignore = {"note"};
  EXPECT_EQ(rows_of(head + "1,red,n,b\n", options), (Rows{{"red", 1, "", {{0, 0, 1}, {1, row_key("class", "b"), 1}}}}));
  options.label = "1";
  EXPECT_EQ(rows_of(head + "1,red,n,b\n{3 b}\n", options).at(1).label, "0");
  options.numeric = {"class"};
  EXPECT_EQ(refusal(head, options),
            "f: got numeric for column \"class\", expected categorical: its values are declared");
}

TEST(ArffRowsTest, ErrorsOfTheHeaderNameThePlace) {
  EXPECT_EQ(
      refusal("@relation r\n@attribute d DATE \"yyyy\"\n@data\n", arff),
      "f:2:14: got \"DATE \\\"yyyy\\\"\", expected numeric, real, integer, string or {…}: date attributes are not "
      "supported");
  EXPECT_EQ(refusal("@attribute d relational\n", arff),
            "f:1:14: got \"relational\", expected numeric, real, integer, string or {…}: relational attributes are not "
            "supported");
  EXPECT_EQ(refusal("@attribute d text\n", arff),
            "f:1:14: got \"text\", expected an attribute's type: numeric, real, integer, string or {…}");
  EXPECT_EQ(refusal("@attribute d\n", arff),
            "f:1:13: got the end of the line, expected an attribute's type: numeric, real, integer, string or {…}");
  EXPECT_EQ(refusal("@attribute\n", arff), "f:1:11: got the end of the line, expected an attribute's name");
  EXPECT_EQ(refusal("@attribute a {x y}\n", arff), "f:1:17: got \"y}\", expected a comma or }");
  EXPECT_EQ(refusal("@attribute a {x,}\n", arff), "f:1:17: got \"}\", expected a value");
  EXPECT_EQ(refusal("@attribute a {x,x}\n", arff),
            "f:1:19: got the end of the line, expected each value once: \"x\" appears again");
  EXPECT_EQ(refusal("@attribute a real b\n", arff), "f:1:19: got \"b\", expected the end of the line");
  EXPECT_EQ(refusal("@attribute 'a real\n", arff),
            "f:1:12: got \"'a real\", expected a quote that closes it on the same line");
  EXPECT_EQ(refusal("@relation r\n1,2\n", arff), "f:2:1: got \"1,2\", expected @relation, @attribute or @data");
  EXPECT_EQ(refusal("@data\n", arff), "f:1:1: got \"@data\", expected an @attribute before it");
  EXPECT_EQ(refusal("@attribute a real\n", arff), "f:2:1: got the end of the file, expected @data");
}

TEST(ArffRowsTest, ErrorsOfRowsNameWhatWasFoundWhere) {
  const auto says = [](const std::string& line) { return refusal(head + line + "\n", arff); };
  EXPECT_EQ(says("x,red,n,a"), "f:9:1: got \"x\" in column \"width\", expected a number");
  EXPECT_EQ(says("nan,red,n,a"), "f:9:1: got \"nan\" in column \"width\", expected a finite number");
  EXPECT_EQ(says("1,green,n,a"),
            "f:9:3: got \"green\" in column \"the colour\", expected one of its declared values: dark blue, it, red");
  EXPECT_EQ(says("1,red,n,c"), "f:9:9: got \"c\" in column \"class\", expected one of its declared values: a, b");
  EXPECT_EQ(says("1,red,n"), "f:9:8: got the end of the line, expected a value of \"class\": 3 attributes were read");
  EXPECT_EQ(says("1,,n,a"), "f:9:3: got \",n,a\", expected a value of \"the colour\"");
  EXPECT_EQ(says("1,red,two words,a"), "f:9:11: got \"words,a\", expected a comma");
  EXPECT_EQ(says("1,red,n,a,7"), "f:9:11: got \"7\", expected the end of the row, or its weight in braces");
  EXPECT_EQ(says("1,red,n,a 7"), "f:9:11: got \"7\", expected the end of the row: there are 4 attributes");
  EXPECT_EQ(says("1,red,n,a,{x}"), "f:9:12: got \"x\", expected a weight, 0 or more");
  EXPECT_EQ(says("1,red,n,a,{2"), "f:9:13: got the end of the line, expected }");
  EXPECT_EQ(says("1,red,'n,a"), "f:9:7: got \"'n,a\", expected a quote that closes it on the same line");
  EXPECT_EQ(says("{4 x}"), "f:9:2: got \"4 x}\", expected an attribute's index, 0 to 3");
  EXPECT_EQ(says("{a x}"), "f:9:2: got \"a x}\", expected an attribute's index, 0 to 3");
  EXPECT_EQ(says("{0 1, 0 2}"), "f:9:7: got \"0 2}\", expected each attribute once per row: index 0 appears again");
  EXPECT_EQ(says("{0 1"), "f:9:5: got the end of the line, expected a comma or }");
  EXPECT_EQ(says("{0 }"), "f:9:4: got \"}\", expected a value of \"width\"");
}

RC_GTEST_PROP(ArffRowsProperty, WhatIsWrittenIsReadDenseOrSparse, ()) {
  const auto numbers = *rc::gen::inRange(1, 5);
  std::string text = "@relation r\n";
  for (int i = 0; i < numbers; ++i) text += fmt::format("@attribute n{} numeric\n", i);
  text += "@attribute s string\n@attribute class {u,v}\n@data\n";
  Rows rows;
  const auto count = *rc::gen::inRange(1, 12);
  for (int r = 0; r < count; ++r) {
    const bool sparse = *rc::gen::arbitrary<bool>();
    DataRow row;
    std::string line;
    const auto add = [&](int index, const std::string& written) {
      if (!line.empty()) line += ", ";
      line += sparse ? fmt::format("{} {}", index, written) : written;
    };
    for (int i = 0; i < numbers; ++i) {
      const auto value = static_cast<float>(*rc::gen::inRange(-9, 9)) / 7.0F;
      const auto group = static_cast<std::uint32_t>(i);
      if (sparse && value == 0) continue;
      row.features.push_back({group, group, value});
      add(i, fmt::format("{}", value));
    }
    const auto cell = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,{}%'\"\\ ?\t")));
    row.features.push_back({static_cast<std::uint32_t>(numbers), row_key("s", cell), 1});
    std::string quoted = "'";
    for (const char c : cell) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    add(numbers, quoted + "'");
    row.label = *rc::gen::element<std::string>("u", "v");
    if (!sparse || row.label == "v") add(numbers + 1, row.label);
    text += sparse ? "{" + line + "}\n" : line + "\n";
    rows.push_back(row);
  }
  RC_ASSERT(rows_of(text, arff) == rows);
}

}  // namespace
