#include "trace/trace_reader.hpp"

#include <gtest/gtest.h>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

class TraceFile : public testing::Test {
 protected:
  std::vector<TraceRow> read(const std::string& text) const {
    folder_.write("trace.jsonl", text);
    TraceReader reader(folder_.file("trace.jsonl"));
    std::vector<TraceRow> rows;
    for (TraceRow row; reader.next(row);) rows.push_back(row);
    return rows;
  }
  std::string error(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const DataError& e) {
      return e.what();
    }
    return "none";
  }
  test::TemporaryFolder folder_;
};

TEST_F(TraceFile, HasNumbersEvaluationsAndHyperparametersAndListsAreSkipped) {
  const auto rows = read(R"({"t":3,"f":2.5,"capped":true,"alarm":"no","x":[1,[2]],"more":{"n":1},)"
                         R"("evaluation":{"acc":0.75},"x_size":40,"x_quantiles":[1,2],"g":null})"
                         "\n{\"t\":4,\"x_values\":[]}\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].t, 3);
  EXPECT_EQ(rows[0].alarm, "no");
  EXPECT_EQ(rows[1].alarm, "");
  ASSERT_EQ(rows[0].numbers.size(), 3u);
  EXPECT_EQ(rows[0].numbers[0].name, "f");
  EXPECT_EQ(rows[0].numbers[0].value, 2.5);
  EXPECT_EQ(rows[0].numbers[1].value, 1);
  EXPECT_EQ(rows[0].numbers[2].name, "acc");
  EXPECT_TRUE(rows[0].numbers[2].evaluation);
  ASSERT_TRUE(rows[0].x.has_value());
  EXPECT_TRUE(rows[0].x->quantiles);
  EXPECT_EQ(rows[0].x->size, 40);
  EXPECT_EQ(rows[0].x->numbers, (std::vector<double>{1, 2}));
  ASSERT_TRUE(rows[1].x.has_value());
  EXPECT_TRUE(rows[1].numbers.empty());
}

TEST_F(TraceFile, MayEndInTheMiddleOfALine) {
  EXPECT_EQ(read("{\"t\":1,\"f\":1}\n{\"t\":2,\"f\":2}\n{\"t\":3,\"f\":0.").size(), 2u);
  EXPECT_TRUE(read("").empty());
}

TEST_F(TraceFile, NamesTheLineOfWhatIsDamaged) {
  EXPECT_NE(error("{\"t\":1}\n{\"t\":2,\n{\"t\":3}\n").find("trace.jsonl:2: is damaged"), std::string::npos);
  EXPECT_NE(error("{\"t\":2}\n{\"t\":1}\n").find("trace.jsonl:2: got t = 1, expected a whole number above 2"),
            std::string::npos);
  EXPECT_NE(error("{\"f\":1}\n").find("trace.jsonl:1: got t = nan"), std::string::npos);
  for (const char* line :
       {"[]", "[1]", "7", "{}", "{\"t\":\"x\"}", "{\"t\":1,\"evaluation\":3}", "{\"t\":0}",
        "{\"t\":1,\"x_values\":[\"a\"]}", "{\"t\":1,\"x_values\":[null]}", "{\"t\":1.5}", "{\"t\":1e300}"})
    EXPECT_NE(error(line + std::string("\n")).find("trace.jsonl:1"), std::string::npos) << line;
  EXPECT_NE(error(std::string(100000, '[') + "\n").find("trace.jsonl:1"), std::string::npos);
}

TEST_F(TraceFile, MustExist) { EXPECT_THROW(TraceReader(folder_.file("none")), DataError); }

}  // namespace
