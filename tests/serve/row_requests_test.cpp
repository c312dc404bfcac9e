#include "serve/row_requests.hpp"

#include <gtest/gtest.h>

#include "serve/refusal.hpp"

namespace obolus::serve {
namespace {

constexpr std::size_t many = 100;

RowRequests of_label(const std::string& label) {
  return RowRequests({.options = {.label = label, .id = "id"}, .known = {}});
}

int refusal_of(RowRequests& rows, std::string_view body, BodyForm form, RowUse use, std::size_t max = many) {
  try {
    (void)rows.read(body, form, use, max);
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
  return 200;
}

TEST(RowRequests, OneRowAListAndLinesAreTheSame) {
  RowRequests rows = of_label("y");
  const std::string one = R"({"a": 1.5, "y": "n"})", other = R"({"b": "red", "y": "p", "id": 7})";
  const RowBatch list = rows.read("[" + one + "," + other + "]", BodyForm::json, RowUse::learn, many);
  const RowBatch lines = rows.read(one + "\n\n" + other + "\n", BodyForm::lines, RowUse::learn, many);
  const RowBatch single = rows.read(one, BodyForm::json, RowUse::learn, many);
  ASSERT_EQ(list.rows.size(), 2U);
  ASSERT_EQ(lines.rows.size(), 2U);
  ASSERT_EQ(single.rows.size(), 1U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(list.rows[i].row, lines.rows[i].row);
  EXPECT_EQ(single.rows[0].row, list.rows[0].row);
  EXPECT_EQ(list.groups, lines.groups);
  EXPECT_EQ(list.lines, lines.lines);
  EXPECT_EQ(list.rows[1].row.tag, "7");
}

TEST(RowRequests, ARowKnowsTheNamesUpToItself) {
  RowRequests rows = of_label("y");
  const RowBatch batch = rows.read(R"([{"a":1,"y":1},{"a":2,"b":3,"y":0}])", BodyForm::json, RowUse::learn, many);
  EXPECT_EQ(batch.rows[0].groups, 1U);
  EXPECT_EQ(batch.rows[1].groups, 2U);
}

TEST(RowRequests, ARequestLeavesNoNamesBehind) {
  RowRequests rows = of_label("y");
  (void)rows.read(R"({"a":1,"y":1})", BodyForm::json, RowUse::learn, many);
  EXPECT_EQ(refusal_of(rows, R"([{"c":1,"y":1},{"d":[{}],"y":1}])", BodyForm::json, RowUse::learn), 422);
  EXPECT_EQ(rows.read(R"({"b":1,"y":1})", BodyForm::json, RowUse::learn, many).groups, std::vector<std::string>{"b"});
}

TEST(RowRequests, TheJournalHasNoIds) {
  RowRequests rows = of_label("y");
  const RowBatch batch = rows.read("{\"id\": \"x\",\n \"a\": 1, \"y\": \"n\"}", BodyForm::json, RowUse::learn, many);
  EXPECT_EQ(batch.lines.find("id"), std::string::npos);
  EXPECT_EQ(batch.lines.find('\n'), batch.lines.size() - 1);
  const RowBatch again = rows.read(batch.lines, BodyForm::lines, RowUse::learn, many);
  EXPECT_EQ(again.rows[0].row.features, batch.rows[0].row.features);
  EXPECT_EQ(again.rows[0].row.label, "n");
}

TEST(RowRequests, RowsToLearnNeedALabelAndThereMayNotBeTooMany) {
  RowRequests rows = of_label("y");
  EXPECT_EQ(refusal_of(rows, R"({"a":1})", BodyForm::json, RowUse::learn), 422);
  EXPECT_EQ(refusal_of(rows, R"({"a":1})", BodyForm::json, RowUse::predict), 200);
  EXPECT_EQ(refusal_of(rows, R"([{"a":1},{"a":1}])", BodyForm::json, RowUse::predict, 1), 413);
}

TEST(Feedback, IsReadInAllForms) {
  const auto list = read_feedback(R"([{"id":"a","label":"n"},{"id":2,"y":1.50}])", BodyForm::json, "y", many);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, "a");
  EXPECT_EQ(list[0].label, "\"n\"");
  EXPECT_EQ(list[1].id, "2");
  EXPECT_EQ(list[1].label, "1.5");
  EXPECT_EQ(read_feedback("{\"id\":\"a\",\"label\":true}\n\n", BodyForm::lines, "y", many).size(), 1U);
  EXPECT_THROW((void)read_feedback(R"({"id":"a"})", BodyForm::json, "y", many), Refusal);
  EXPECT_THROW((void)read_feedback(R"({"id":)", BodyForm::json, "y", many), Refusal);
}

TEST(Feedback, GivesARowItsLabel) {
  EXPECT_EQ(with_label(R"({"a":1.50})", "y", "\"n\""), "{\"a\":1.50,\"y\":\"n\"}\n");
  EXPECT_EQ(with_label("{}", "y", "1"), "{\"y\":1}\n");
}

TEST(Feedback, ARowThatIsKeptHasNeitherIdNorLabel) {
  RowRequests rows = of_label("y");
  for (const char* row : {R"({"id":"k","a":1.50,"y":"p"})", R"({"y": null, "id": "k", "a": 1.50})",
                          R"({"a":1.50, "y":"p", "id":"k"})", R"({"y":"p","a":1.50,"id":"k"})"}) {
    const RowBatch batch = rows.read(row, BodyForm::json, RowUse::predict, many);
    EXPECT_EQ(batch.line(batch.rows[0]), "{\"a\":1.50}\n") << row;
  }
}

}  // namespace
}  // namespace obolus::serve
