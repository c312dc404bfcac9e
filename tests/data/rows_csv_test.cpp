#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::description;
using test::reader_of;
using test::refusal;
using test::rows_of;
using Rows = std::vector<DataRow>;
using Names = std::vector<std::string>;

RowOptions csv(Header header = Header::automatic) { return {.format = "csv", .header = header}; }
RowOptions labelled_by(const std::string& label) {
  RowOptions options = csv();
  options.label = label;
  return options;
}

// As a model knows them: whatever these rows alone would say, and whether or not there are such columns.
TEST(CsvRows, ColumnsAreWhatTheyUsuallyAre) {
  RowOptions options = csv();
  options.labelled = false;
  options.usually_categorical = {"code", "gone"};
  options.usually_numeric = {"size"};
  EXPECT_EQ(rows_of("code,size\n7,3\n", options), (Rows{{"", 1, "", {{0, row_key("code", "7"), 1}, {1, 1, 3}}}}));
  options.ignore = {"code"};
  EXPECT_EQ(rows_of("code,size\n7,3\n", options), (Rows{{"", 1, "", {{0, 0, 3}}}}));
}

TEST(CsvRows, LeaveOutWhatIsUsuallyTheLabelUnlessToldOtherwise) {
  RowOptions options = csv();
  options.labelled = false;
  options.usually_label = "y";
  const std::string text = "a,y,b\n1,2,3\n";
  const Rows without{{"", 1, "", {{0, 0, 1}, {1, 1, 3}}}}, all{{"", 1, "", {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}}}};
  EXPECT_EQ(rows_of(text, options), without);
  EXPECT_EQ(rows_of("a,b\n1,3\n", options), without) << "it need not exist";
  options.ignore = {"y"};
  EXPECT_EQ(rows_of(text, options), without);
  options.ignore = {};
  options.numeric = {"y"};
  EXPECT_EQ(rows_of(text, options), all);
  options.numeric = {};
  options.weight = "y";
  EXPECT_EQ(rows_of(text, options), (Rows{{"", 2, "", {{0, 0, 1}, {1, 1, 3}}}}));
  options.weight = {};
  options.label = "b";
  EXPECT_EQ(rows_of(text, options), (Rows{{"3", 1, "", {{0, 0, 1}, {1, 1, 2}}}}));
}

TEST(CsvRowsTest, NumbersKeepTheirColumnAndTextsBecomeCategories) {
  auto reader = reader_of("age,colour,y\n31,red,yes\n-4.5,blue,no\n", csv());
  const Rows expected{{"yes", 1, "", {{0, 0, 31}, {1, row_key("colour", "red"), 1}}},
                      {"no", 1, "", {{0, 0, -4.5F}, {1, row_key("colour", "blue"), 1}}}};
  EXPECT_EQ(test::all_rows(*reader), expected);
  EXPECT_EQ(reader->groups(), (Names{"age", "colour"}));
  EXPECT_EQ(reader->place(), "f:3");
  EXPECT_EQ(reader->describe(),
            "CSV by \",\", a header, 3 columns by the first 2 rows: label y, 1 numeric (age), 1 categorical (colour)");
}

TEST(CsvRowsTest, QuotesHoldDelimitersQuotesAndLineEnds) {
  const Rows expected{{"1", 1, "", {{0, row_key("a", "x,\"y\"\r\nz\n"), 1}, {1, row_key("b", "5\" nail"), 1}}},
                      {"2", 1, "", {{0, row_key("a", "q"), 1}, {1, row_key("b", "r"), 1}}}};
  EXPECT_EQ(rows_of("a,\"b\",y\r\n\"x,\"\"y\"\"\r\nz\n\",5\" nail,1\r\nq,r,\"2\"", csv()), expected);
}

TEST(CsvRowsTest, TheDelimiterIsTheMostFrequentOfTheFirstLine) {
  for (const char d : {',', ';', '\t', '|'}) {
    const std::string text = fmt::format("a{0}\"b,;c\"{0}y\n1{0}2{0}3\n", d);
    EXPECT_EQ(rows_of(text, csv()), (Rows{{"3", 1, "", {{0, 0, 1}, {1, 1, 2}}}})) << d;
  }
  RowOptions given = csv(Header::no);
  given.delimiter = ' ';
  EXPECT_EQ(rows_of("1 2 3\n", given), (Rows{{"3", 1, "", {{0, 0, 1}, {1, 1, 2}}}}));
  EXPECT_EQ(description("a,b\tc\n1,1\t2\n", {}, "f.tsv.gz"),
            "CSV by tabs, a header, 2 columns by the first 1 rows: label c, 1 categorical (a,b)");
  given.delimiter = '.';
  EXPECT_EQ(rows_of("1.2.3\n", given), (Rows{{"3", 1, "", {{0, 0, 1}, {1, 1, 2}}}}));
  given.delimiter = '"';
  EXPECT_EQ(refusal("1 2\n", given), "delimiter: got \"\\\"\", expected a byte other than a quote or a line ending");
}

TEST(CsvRowsTest, AHeaderIsToldFromARow) {
  const auto has = [](const std::string& text) {
    return description(text, csv()).find("a header") != std::string::npos;
  };
  EXPECT_TRUE(has("a,b\n1,2\n"));
  EXPECT_TRUE(has(",a,b\n0,1,2\n"));  // the unnamed index of pandas
  EXPECT_TRUE(has("kind,cap\np,x\ne,x\n"));
  EXPECT_TRUE(has("a,b\n"));
  EXPECT_FALSE(has("1,2\n3,4\n"));
  EXPECT_FALSE(has("a,1\nb,2\n"));
  EXPECT_FALSE(has("p,x\ne,x\np,y\n"));  // p comes again
  EXPECT_FALSE(has("p,p\ne,x\n"));
  EXPECT_FALSE(has("a,NA\nb,1\n"));
  EXPECT_EQ(rows_of("a,b\n1,2\n", csv(Header::no)).size(), 2u);
  EXPECT_EQ(rows_of("1,2\n3,4\n", csv(Header::yes)).size(), 1u);
  EXPECT_EQ(reader_of("1,2,3\n", csv())->groups(), (Names{"1", "2"}));
}

TEST(CsvRowsTest, ColumnsAreGivenByNameOrPosition) {
  const std::string text = "id,y,w,a\n7,yes,2,5\n";
  const auto label = [&](const std::string& column) { return rows_of(text, labelled_by(column)).at(0).label; };
  EXPECT_EQ(label("y"), "yes");
  EXPECT_EQ(label("2"), "yes");
  EXPECT_EQ(label("-3"), "yes");
  EXPECT_EQ(label(""), "5");
  RowOptions options = labelled_by("y");
  options.weight = "w";
  options.ignore = {"1"};
  EXPECT_EQ(rows_of(text, options), (Rows{{"yes", 2, "", {{0, 0, 5}}}}));
  options.categorical = {"a"};
  EXPECT_EQ(rows_of(text, options), (Rows{{"yes", 2, "", {{0, row_key("a", "5"), 1}}}}));
  EXPECT_EQ(
      description(text, options),
      "CSV by \",\", a header, 4 columns by the first 1 rows: label y, weight w, 1 categorical (a), 1 ignored (id)");
}

TEST(CsvRowsTest, WrongColumnsAreErrorsOfTheOptions) {
  const std::string text = "a,b,b\n1,2,3\n";
  RowOptions twice = labelled_by("a");
  twice.header = Header::yes;
  EXPECT_EQ(refusal(text, labelled_by("z")),
            "f: got column \"z\", expected one of the 3 columns (1, 2, 3) or its position, 1 to 3 or -1 to -3");
  EXPECT_EQ(refusal("a,b\n1,2\n", labelled_by("0")),
            "f: got column \"0\", expected one of the 2 columns (a, b) or its position, 1 to 2 or -1 to -2");
  twice.weight = "b";
  EXPECT_EQ(refusal(text, twice), "f: got two columns called \"b\", expected one: give its position");
  twice.weight = "a";
  EXPECT_EQ(refusal(text, twice),
            "f: got two uses of column \"a\", expected one of label, weight, id, ignored, feature");
  EXPECT_THROW((void)reader_of(text, labelled_by("z")), ConfigError);
}

TEST(CsvRowsTest, MissingValuesAreAbsentAndSaidForNumbers) {
  const std::uint64_t no_n = row_key("n", "missing");
  const Rows expected{{"1", 1, "", {{0, 0, 1}, {1, row_key("c", "x"), 1}}},
                      {"2", 1, "", {{0, no_n, 1}}},
                      {"", 1, "", {{0, no_n, 1}}},
                      {"4", 1, "", {{0, no_n, 1}, {1, row_key("c", "y"), 1}}}};
  EXPECT_EQ(rows_of("n,c,y\n1,x,1\n,NA,2\nnull, ,?\nNaN,y,4\n", csv()), expected);
  RowOptions own = csv();
  own.missing = {"-999"};
  EXPECT_EQ(rows_of("n,y\n-999,1\n3,2\n", own), (Rows{{"1", 1, "", {{0, no_n, 1}}}, {"2", 1, "", {{0, 0, 3}}}}));
}

TEST(CsvRowsTest, RowsWithoutLabelAreForPrediction) {
  RowOptions options = csv();
  options.labelled = false;
  EXPECT_EQ(rows_of("a,b\n1,2\n", options), (Rows{{"", 1, "", {{0, 0, 1}, {1, 1, 2}}}}));
}

TEST(CsvRowsTest, ErrorsNameWhatWasFoundWhere) {
  RowOptions options = csv(Header::yes);
  options.look_ahead = 2;
  options.weight = "w";
  const auto says = [&](const std::string& line) { return refusal("a,w,y\n1,1,x\n2,1,y\n" + line + "\n", options); };
  EXPECT_EQ(says("1,1,1"), "accepted");
  EXPECT_EQ(says("old,1,1"), "f:4:1: got \"old\" in column \"a\", expected a number");
  EXPECT_EQ(says("inf,1,1"), "f:4:1: got \"inf\" in column \"a\", expected a finite number");
  EXPECT_EQ(says("1e999,1,1"),
            "f:4:1: got \"1e999\" in column \"a\", expected a number that a 32-bit float can hold (at most 3.4e38)");
  EXPECT_EQ(says("1,-1,1"), "f:4:3: got \"-1\" in column \"w\", expected a weight, 0 or more");
  EXPECT_EQ(says("1,,1"), "f:4:3: got \"\" in column \"w\", expected a weight, 0 or more");
  EXPECT_EQ(says("1,1"), "f:4:4: got the end of the row after 2 columns, expected 3");
  EXPECT_EQ(says("1,1,1,9"), "f:4:7: got 4 columns, expected 3");
  EXPECT_EQ(says("\"1\" ,1,1"),
            "f:4:4: got \" \" after the closing quote, expected the delimiter or the end of the line");
  EXPECT_EQ(says("\"1\n2\",x,1"), "f:4:1: got \"1\\n2\" in column \"a\", expected a number");
  EXPECT_EQ(says("1,1,\"1"), "f:4:5: got the end of the file after this quote, expected a quote that closes it");
}

TEST(CsvRowsTest, AQuoteThatIsNeverClosedIsNotReadForever) {
  RowOptions options = csv();
  options.max_line = 1'000;
  options.skip_bad = 100;
  std::string text = "a,y\n\"1,2\n";
  for (int i = 0; i < 1'000; ++i) text += "3,4\n";
  EXPECT_EQ(refusal(text, options),
            "f:2:1: got more than 1000 bytes after this quote, expected a quote that closes it");
}

TEST(CsvRowsTest, AFileWithoutRowsHasNone) {
  EXPECT_EQ(rows_of("", csv()), Rows{});
  EXPECT_EQ(rows_of("\n\r\n", csv()), Rows{});
  EXPECT_EQ(rows_of("a,b,y\n", csv()), Rows{});
}

RC_GTEST_PROP(CsvRowsProperty, WhatIsWrittenIsRead, ()) {
  const char delimiter = *rc::gen::element(',', ';', '\t', '|');
  const auto text_columns = *rc::gen::inRange(1, 4);
  Rows rows;
  std::string text;
  for (int c = 0; c < text_columns; ++c) text += fmt::format("c{}{}", c, delimiter);
  text += fmt::format("n{}y\n", delimiter);
  const auto count = *rc::gen::inRange(1, 15);
  for (int r = 0; r < count; ++r) {
    DataRow row;
    for (int c = 0; c < text_columns; ++c) {
      std::string cell = "t" + *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,;|\t\"\n\r 1")));
      row.features.push_back({static_cast<std::uint32_t>(c), row_key(fmt::format("c{}", c), cell), 1});
      for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2) cell.insert(at, 1, '"');
      text += "\"" + cell + "\"" + delimiter;
    }
    const auto value = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 7.0F;
    const auto number = static_cast<std::uint32_t>(text_columns);
    row.features.push_back({number, number, value});
    row.label = std::to_string(r);
    text += fmt::format("{}{}{}\n", value, delimiter, r);
    rows.push_back(row);
  }
  RC_ASSERT(rows_of(text, csv(Header::yes)) == rows);
}

}  // namespace
