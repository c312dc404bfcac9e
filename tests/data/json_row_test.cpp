// Rows of JSON by themselves: bodies of several, on one line, groups that are forgotten.
#include "data/rows/json_row.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "obolus/core/error.hpp"
#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;
using Names = std::vector<std::string>;
using Features = std::vector<RowFeature>;

// A text with the bytes behind it that the parser may look at.
class Padded {
 public:
  explicit Padded(std::string text) : size_(text.size()), text_(std::move(text)) {
    text_.append(JsonRowParser::padding, '"');
  }
  operator std::string_view() const { return std::string_view(text_).substr(0, size_); }  // NOLINT

 private:
  std::size_t size_;
  std::string text_;
};

TEST(JsonRowTest, ABodyIsAnObjectOrAnArrayOfThem) {
  JsonRowParser parser({.id = "id"});
  DataRow row;
  std::string line;
  Names lines, ids;
  const auto take = [&](std::size_t i) {
    EXPECT_EQ(i, lines.size());
    lines.push_back(line);
    ids.push_back(row.tag);
  };
  EXPECT_EQ(parser.parse_json(Padded(" {\"a\" : 1,\n \"id\" : 5}\n"), row, take, &line), 1u);
  EXPECT_EQ(lines, Names{"{\"a\":1}"});
  lines.clear();
  EXPECT_EQ(
      parser.parse_json(Padded("[ {\"id\":1, \"a\":2}, { \"b\" : \"x \\\" }\", \"id\":\"q\" , \"c\":[1 , 2]},\n{}]"),
                        row, take, &line),
      3u);
  EXPECT_EQ(lines, (Names{"{\"a\":2}", "{\"b\":\"x \\\" }\",\"c\":[1,2]}", "{}"}));
  EXPECT_EQ(ids, (Names{"5", "1", "q", ""}));
  EXPECT_EQ(parser.parse_json(Padded("[]"), row, take, &line), 0u);
  lines.clear();
  EXPECT_EQ(parser.parse_lines(Padded("{\"a\":1}\r\n\n{\"a\": 2}"), row, take, &line), 2u);
  EXPECT_EQ(lines, (Names{"{\"a\":1}", "{\"a\":2}"}));
  EXPECT_EQ(parser.groups(), (Names{"a", "b", "c"}));
}

TEST(JsonRowTest, AnIdWithinAnObjectIsLeftOutOfTheLine) {
  JsonRowParser parser({.id = "m.id"});
  DataRow row;
  std::string line;
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"m":{"id":1},"a":2})", R"({"m":{},"a":2})"},
           {R"({"m":{"id":1,"b":3},"a":2})", R"({"m":{"b":3},"a":2})"},
           {R"({"m":{"b":3, "id" : "x" } , "a":2})", R"({"m":{"b":3},"a":2})"},
           {R"({"m.id":1})", "{}"}}) {
    parser.parse(Padded(text), row, &line);
    EXPECT_EQ(line, expected);
    const DataRow whole = row;
    parser.parse(Padded(line), row);
    EXPECT_EQ(row.features, whole.features);
  }
}

TEST(JsonRowTest, AFaultSaysInWhichRow) {
  struct Case {
    std::string text;
    std::size_t offset, row, begin;
  };
  JsonRowParser parser({});
  DataRow row;
  for (const auto& [text, offset, at, begin] : std::vector<Case>{{R"([{"a":1}, {"a":x}])", 15, 1, 10},
                                                                 {R"([{"a":1}, 5])", 10, 1, 10},
                                                                 {R"([{"a":[1,"],{"]},{"a":1,"a":2}])", 24, 1, 17},
                                                                 {"[{\"a\":1},{\"b\":\"\xFF\"}]", 15, 1, 9},
                                                                 {R"([{"a":1}] 3)", 10, 0, 1},
                                                                 {R"(7)", 0, 0, 0},
                                                                 {R"({"a":})", 5, 0, 0}}) {
    try {
      parser.parse_json(Padded(text), row, [](std::size_t) {});
      ADD_FAILURE() << text;
    } catch (const JsonFault& fault) {
      EXPECT_EQ(std::tuple(fault.offset, fault.row, fault.row_begin), std::tuple(offset, at, begin)) << text;
    }
    EXPECT_EQ(parser.groups(), Names{}) << text;
  }
  try {
    parser.parse_lines(Padded("{\"a\":1}\n\n{\"b\":2}\n{\"c\":}"), row, [](std::size_t) {});
    ADD_FAILURE();
  } catch (const JsonFault& fault) {
    EXPECT_EQ(std::tuple(fault.offset, fault.row, fault.row_begin), std::tuple(22u, 2u, 17u));
  }
  EXPECT_EQ(parser.groups(), Names{});
}

TEST(JsonRowTest, WhatTheTakerThrowsLeavesNoGroupEither) {
  JsonRowParser parser({});
  DataRow row;
  const auto refuse = [](std::size_t i) {
    if (i == 1) throw DataError("no");
  };
  EXPECT_THROW(parser.parse_json(Padded(R"([{"a":1},{"b":1}])"), row, refuse), DataError);
  EXPECT_THROW(parser.parse_lines(Padded("{\"a\":1}\n{\"b\":1}"), row, refuse), DataError);
  EXPECT_EQ(parser.groups(), Names{});
}

TEST(JsonRowTest, KnownGroupsKeepTheirNumbersAndKinds) {
  JsonRowParser parser({},
                       {{"n", JsonKind::numeric}, {"c", JsonKind::categorical}, {"u", JsonKind::usually_categorical}});
  DataRow row;
  parser.parse(Padded(R"({"u":7,"c":7,"n":"7","new":7})"), row);
  EXPECT_EQ(row.features, (Features{{2, row_key("u", "7"), 1}, {1, row_key("c", "7"), 1}, {0, 0, 7}, {3, 3, 7}}));
  parser.parse(Padded(R"({"u":null,"c":null,"n":null})"), row);
  EXPECT_EQ(row.features, (Features{{2, row_key("u", "missing"), 1}, {0, row_key("n", "missing"), 1}}));
  JsonRowParser usual({}, {{"m", JsonKind::usually_numeric}});
  usual.parse(Padded(R"({"m":" 7"})"), row);
  EXPECT_EQ(row.features, (Features{{0, 0, 7}}));
  usual.parse(Padded(R"({"m":"old"})"), row);
  EXPECT_EQ(row.features, (Features{{0, row_key("m", "old"), 1}}));
  EXPECT_THROW(JsonRowParser({}, {{"a"}, {"a"}}), ConfigError);
}

TEST(JsonRowTest, ForgottenGroupsAreNumberedAnew) {
  JsonRowParser parser({.label = "y"}, {{"known"}});
  DataRow row;
  parser.parse(Padded(R"({"o":{"a":1},"b":1})"), row);
  const Names learnt = parser.groups();
  parser.parse(Padded(R"({"p":{"q":{"r":1}},"o":{"c":2,"a":3},"y":"l"})"), row);
  EXPECT_EQ(parser.groups().size(), 5u);
  parser.forget_groups_after(learnt.size());
  EXPECT_EQ(parser.groups(), learnt);
  parser.parse(Padded(R"({"o":{"a":3,"c":2},"z":1,"y":"l"})"), row);
  EXPECT_EQ(row, (DataRow{"l", 1, "", {{1, 1, 3}, {3, 3, 2}, {4, 4, 1}}}));
  EXPECT_EQ(parser.groups(), (Names{"known", "o.a", "b", "o.c", "z"}));
  parser.forget_groups_after(0);
  EXPECT_EQ(parser.groups(), Names{});
}

// Names of rows that are only predicted must not use up those there may be.
TEST(JsonRowTest, NamesThatAreForgottenOrRefusedCountNoMore) {
  JsonRowParser parser({}, {{"a"}});
  DataRow row;
  for (int i = 0; i < 70'000; ++i) {
    parser.parse(Padded(fmt::format(R"({{"o{}":{{"x":1}},"a":1}})", i)), row);
    parser.forget_groups_after(1);
    EXPECT_THROW(parser.parse(Padded(fmt::format(R"({{"p{}":{{}},"a":x}})", i)), row), JsonFault);
  }
  EXPECT_EQ(parser.groups(), Names{"a"});
}

TEST(JsonRowTest, KnownRowsAllocateNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations are not counted here";
  JsonRowParser parser({});
  DataRow row;
  const Padded first(
      R"({"a":1.25,"text of a row":"a long category of more than a word","o":{"x":[1,2,3],"y":null},"label":"p"})");
  const Padded other(R"({"o":{"y":"z","x":["k"]},"label":"q","a":7})");
  for (int i = 0; i < 2; ++i) {
    parser.parse(first, row);
    parser.parse(other, row);
  }
  const test::AllocationCounter counter;
  for (int i = 0; i < 10; ++i) {
    parser.parse(first, row);
    parser.parse(other, row);
  }
  EXPECT_EQ(counter.count(), 0u);
}

}  // namespace
