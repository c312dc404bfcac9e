#include "report/series.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

class Folders : public testing::Test {
 protected:
  void run(const std::string& name, const std::string& trace, const std::string& config = "") {
    std::filesystem::create_directory(folder.file(name));
    folder.write(name + "/trace.jsonl", trace);
    if (!config.empty()) folder.write(name + "/config.toml", config);
  }
  FolderContents read(const std::string& name, Selection selection = {}) {
    return read_series({folder.file(name)}, selection);
  }
  std::string error(const std::string& name) {
    try {
      (void)read(name);
    } catch (const DataError& e) {
      return e.what();
    }
    return "none";
  }
  test::TemporaryFolder folder;
};

TEST_F(Folders, OfARunHaveItsColumnsAndEvaluations) {
  run("a",
      R"({"t":1,"f":2.5,"lambda":5,"capped":true,"grad_f":2,"grad_g":3,"hvp":1,"cross":2,"values":4,"seconds":0.5,)"
      R"("x":[1,[2]]})"
      "\n"
      R"({"t":2,"lambda":6,"grad_f":4,"grad_g":6,"hvp":2,"cross":4,"values":8,"seconds":1,"evaluation":{"acc":0.75}})"
      "\n",
      "[problem]\nname = \"quadratic\"\nseed = 7\n[optimiser]\nname = \"f2obo\"\n");
  Selection selection;
  selection.measures = {"f", "acc", "capped", "lambda"};
  const FolderContents contents = read("a", selection);
  ASSERT_EQ(contents.series.size(), 1u);
  const Series& s = contents.series.front();
  EXPECT_EQ(s.label, "f2obo");
  EXPECT_EQ(s.stream, "quadratic");
  EXPECT_EQ(s.seed, 7);
  ASSERT_EQ(s.of("f").size(), 1u);
  EXPECT_EQ(s.of("f")[0].value, 2.5);
  EXPECT_EQ(s.of("f")[0].gradients, 2 + 3 + 2 * (1 + 2) + 0.5 * 4);
  EXPECT_EQ(s.of("capped")[0].value, 1);
  ASSERT_EQ(s.of("acc").size(), 1u);
  EXPECT_EQ(s.of("acc")[0].t, 2);
  EXPECT_EQ(s.of("acc")[0].seconds, 1);
  ASSERT_EQ(s.of("lambda").size(), 2u);
  EXPECT_TRUE(s.of("grad_f").empty());  // not selected
  std::string names;
  for (const MeasureName& m : contents.measures) names += m.name + (m.evaluation ? "! " : " ");
  EXPECT_EQ(names, "f lambda capped grad_f grad_g hvp cross values seconds gradients acc! ");
}

TEST_F(Folders, WhoseConfigCannotBeReadAreCalledByTheirNames) {
  run("odd", "{\"t\":1,\"f\":2}\n", "[problem\n");
  EXPECT_EQ(read("odd").series.at(0).label, "odd");
}

TEST_F(Folders, IgnoreTheCutLastLineOfAnUnfinishedRun) {
  run("a", "{\"t\":1,\"f\":1}\n{\"t\":2,\"f\":2}\n{\"t\":3,\"f\":0.");
  EXPECT_EQ(read("a").series[0].of("f").size(), 2u);
}

TEST_F(Folders, NameFileAndLineOfWhatIsDamaged) {
  run("cut", "{\"t\":1,\"f\":1}\n{\"t\":2,\n{\"t\":3,\"f\":3}\n");
  EXPECT_NE(error("cut").find("cut/trace.jsonl:2: is damaged"), std::string::npos) << error("cut");
  run("list", "[1,2]\n");
  EXPECT_NE(error("list").find("list/trace.jsonl:1"), std::string::npos);
  run("back", "{\"t\":2,\"f\":1}\n{\"t\":1,\"f\":1}\n");
  EXPECT_NE(error("back").find("back/trace.jsonl:2: got t = 1, expected a whole number above 2"), std::string::npos)
      << error("back");
  run("none", "{\"f\":1}\n");
  EXPECT_NE(error("none").find("none/trace.jsonl:1: got t = nan"), std::string::npos) << error("none");
  run("deep", std::string(100000, '[') + "\n");
  EXPECT_NE(error("deep").find("deep/trace.jsonl:1"), std::string::npos);
  std::string names = "{\"t\":1";
  for (int i = 0; i < 2000; ++i) names += fmt::format(",\"n{}\":1", i);
  run("names", names + "}\n");
  EXPECT_NE(error("names").find("names/trace.jsonl:1: got more than 1000 names"), std::string::npos);
}

TEST_F(Folders, WithoutRunAndComparisonAreRefused) {
  EXPECT_NE(error("nowhere").find("trace.jsonl"), std::string::npos);
  run("a", "{\"t\":1,\"f\":1}\n");
  EXPECT_THROW((void)read_series({folder.file("a"), folder.path() + "/./a"}, {}), ConfigError);
}

}  // namespace
