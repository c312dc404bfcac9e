#include "report/series.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

std::vector<Point> thinned(Round rounds, bool in_ratios) {
  Thinned kept(in_ratios);
  for (Round t = 1; t <= rounds; ++t) kept.add({t, 0, 0, static_cast<double>(t)});
  return kept.points();
}

TEST(Thinned, KeepsAllOfAFewPoints) {
  EXPECT_EQ(thinned(1, false).size(), 1u);
  EXPECT_EQ(thinned(1999, false).size(), 1999u);
  EXPECT_TRUE(Thinned(false).points().empty());
}

TEST(Thinned, KeepsFirstAndLastAndAtMostTwoThousandEvenly) {
  for (const Round rounds : {2000, 2001, 3998, 3999, 10000, 123457}) {
    const auto points = thinned(rounds, false);
    EXPECT_EQ(points.front().t, 1);
    EXPECT_EQ(points.back().t, rounds);
    EXPECT_LE(points.size(), 2000u) << rounds;
    EXPECT_GE(points.size(), 1000u) << rounds;
    const Round step = points[1].t - points[0].t;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) ASSERT_EQ(points[i].t - points[i - 1].t, step) << rounds;
    EXPECT_LE(points.back().t - points[points.size() - 2].t, step);
  }
}

TEST(Thinned, KeepsRoundsThatALongerRunKeepsToo) {
  const auto shorter = thinned(5000, false), longer = thinned(40000, false);
  std::size_t common = 0;
  for (const Point& p : longer)
    common += static_cast<std::size_t>(
        std::count_if(shorter.begin(), shorter.end(), [&](const Point& q) { return q.t == p.t; }));
  EXPECT_GE(common, 5000 * longer.size() / 40000);
}

TEST(Thinned, InRatiosKeepsTheFirstRoundsAndNoTwoThousand) {
  const auto points = thinned(200000, true);
  EXPECT_LE(points.size(), 2000u);
  EXPECT_EQ(points.back().t, 200000);
  for (Round t = 1; t <= 20; ++t) EXPECT_EQ(points[static_cast<std::size_t>(t - 1)].t, t);
  // e^(2/45): from the start of one bin to the end of the next.
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double ratio = static_cast<double>(points[i].t) / static_cast<double>(points[i - 1].t);
    ASSERT_TRUE(points[i].t < 60 || ratio < 1.0455) << points[i].t;
  }
}

class Folders : public testing::Test {
 protected:
  void run(const std::string& name, const std::string& trace, const std::string& config = "") {
    std::filesystem::create_directory(folder.file(name));
    folder.write(name + "/trace.jsonl", trace);
    if (!config.empty()) folder.write(name + "/config.toml", config);
  }
  Holdings read(const std::string& name, Selection selection = {}) {
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

TEST_F(Folders, OfARunOfferItsColumnsAndEvaluations) {
  run("a",
      R"({"t":1,"f":2.5,"lambda":5,"capped":true,"grad_f":2,"grad_g":3,"hvp":1,"cross":2,"values":4,"seconds":0.5,"x":[1,[2]]})"
      "\n"
      R"({"t":2,"lambda":6,"grad_f":4,"grad_g":6,"hvp":2,"cross":4,"values":8,"seconds":1,"evaluation":{"acc":0.75}})"
      "\n",
      "[problem]\nname = \"quadratic\"\nseed = 7\n[optimiser]\nname = \"f2obo\"\n");
  Selection selection;
  selection.measures = {"f", "acc", "capped", "lambda"};
  const Holdings held = read("a", selection);
  ASSERT_EQ(held.series.size(), 1u);
  const Series& s = held.series.front();
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
  EXPECT_TRUE(s.of("grad_f").empty());  // nobody asked
  std::string offers;
  for (const Offer& o : held.offers) offers += o.name + (o.evaluation ? "! " : " ");
  EXPECT_EQ(offers, "f lambda capped grad_f grad_g hvp cross values seconds gradients acc! ");
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
  EXPECT_NE(error("names").find("names/trace.jsonl:1: got more than 1000 measures"), std::string::npos);
}

TEST_F(Folders, WithoutRunAndComparisonAreRefused) {
  EXPECT_NE(error("nowhere").find("trace.jsonl"), std::string::npos);
  run("a", "{\"t\":1,\"f\":1}\n");
  EXPECT_THROW((void)read_series({folder.file("a"), folder.path() + "/./a"}, {}), ConfigError);
}

}  // namespace
