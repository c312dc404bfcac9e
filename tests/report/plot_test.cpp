#include "report/plot.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "obolus/core/error.hpp"
#include "run/cell_log.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;

TEST(Pooled, HasMeanAndSampleDeviationAtTheRoundsOfAll) {
  // By hand: (2 + 4 + 9)/3 = 5, deviations −3, −1, 4: sqrt((9 + 1 + 16)/2) = sqrt 13; round 4 is not in the third.
  const std::vector<Point> a{{1, 10, 1, 2}, {3, 30, 3, 7}, {4, 40, 4, 0}},
      b{{1, 20, 2, 4}, {3, 40, 3, 7}, {4, 50, 5, 0}}, c{{1, 60, 3, 9}, {2, 70, 3, 1}, {3, 80, 6, 7}};
  const Curve rounds = pooled({&a, &b, &c}, Abscissa::rounds), gradients = pooled({&a, &b, &c}, Abscissa::gradients);
  EXPECT_EQ(rounds.x, (std::vector<double>{1, 3}));
  EXPECT_NEAR(rounds.mean[0], 5, 1e-14);
  EXPECT_NEAR(rounds.sd[0], std::sqrt(13.0), 1e-14);
  EXPECT_NEAR(rounds.mean[1], 7, 1e-14);
  EXPECT_NEAR(rounds.sd[1], 0, 1e-14);
  EXPECT_NEAR(gradients.x[0], 30, 1e-13);
  EXPECT_NEAR(pooled({&a, &b, &c}, Abscissa::seconds).x[1], 4, 1e-13);
}

TEST(Pooled, OfOneRunHasNoDeviation) {
  const std::vector<Point> a{{1, 0, 0, 2}};
  EXPECT_EQ(pooled({&a}, Abscissa::rounds).sd, std::vector<double>{0});
}

TEST(Pooled, OfARunWithoutNumbersIsEmpty) {
  const std::vector<Point> a{{1, 0, 0, 2}}, none;
  EXPECT_TRUE(pooled({&a, &none}, Abscissa::rounds).x.empty());
  EXPECT_TRUE(pooled({}, Abscissa::rounds).x.empty());
}

TEST(Slope, IsTheExponentOfTheLastDecadeWhateverTheLevels) {
  std::vector<Point> a, b;
  for (Round t = 1; t <= 1000; ++t) {
    const double early = t < 100 ? 50 : 0;  // what came before the last decade does not count
    a.push_back({t, 3.0 * static_cast<double>(t), 0, early + 2 * std::pow(t, 0.5)});
    b.push_back({t, 9.0 * static_cast<double>(t), 0, early + 7 * std::pow(t, 0.5)});
  }
  EXPECT_NEAR(slope({&a, &b}, Abscissa::rounds).value(), 0.5, 1e-12);
  EXPECT_NEAR(slope({&a, &b}, Abscissa::gradients).value(), 0.5, 1e-12);
  a.back().value = 0;
  EXPECT_FALSE(slope({&a}, Abscissa::rounds).has_value());
}

class Plots : public testing::Test {
 protected:
  void run(const std::string& name, const std::string& optimiser, int seed, double f, const std::string& more = "") {
    std::filesystem::create_directories(folder.file(name));
    folder.write(name + "/trace.jsonl", fmt::format("{{\"t\":1,\"f\":{}}}\n{{\"t\":2,\"f\":{}}}\n", f, 2 * f));
    // L_g1 differs as it does between the seeds of a generated problem.
    folder.write(
        name + "/config.toml",
        fmt::format("[problem]\nname = \"quadratic\"\nseed = {}\n[optimiser]\nname = \"{}\"\nL_g1 = 5.{}\n{}\n", seed,
                    optimiser, seed, more));
  }
  static Reading reading(Round t, double f) {
    Reading r;
    r.t = t;
    r.measured = true;
    r.f = f;
    return r;
  }
  void cell(const std::string& name, const std::string& label, const std::string& setting, std::int64_t seed, double f,
            bool evaluated = false) {
    JobRecord record;
    record.name = {"quadratic", label, setting, seed, {2}, "c"};
    record.cell.rounds = 2;
    record.cell.has_regret = false;
    record.cell.curve = {reading(1, f), reading(2, 2 * f)};
    record.cell.horizons = {reading(2, 2 * f)};
    if (evaluated) {
      record.cell.evaluations = {reading(2, 2 * f)};
      record.cell.evaluations[0].evaluation.add("acc", f);
    }
    std::filesystem::create_directories(folder.file(name));
    folder.write(
        name + "/cells.jsonl",
        (std::filesystem::exists(folder.file(name + "/cells.jsonl")) ? folder.read(name + "/cells.jsonl") : "") +
            line_of(record));
  }
  PlotOptions options(const std::vector<std::string>& names) {
    PlotOptions o;
    for (const std::string& name : names) o.folders.push_back(folder.file(name));
    return o;
  }
  // Labels with the first mean of the first panel: "f2obo 2, sobow 5".
  static std::string curves(const Plot& p) {
    std::string text;
    for (const Curve& c : p.figure.rows.at(0).panels.at(0).curves)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", c.label, c.mean.at(0));
    return text;
  }
  test::TemporaryFolder folder;
};

TEST_F(Plots, RunsThatDifferByTheirSeedAreOneCurve) {
  run("a", "f2obo", 1, 1), run("b", "f2obo", 2, 3), run("c", "sobow", 1, 5);
  EXPECT_EQ(curves(plot(options({"a", "b", "c"}))), "f2obo 2, sobow 5");
}

TEST_F(Plots, RunsOfTheSameNameAreCalledByTheirFolders) {
  run("a", "f2obo", 1, 1), run("b", "f2obo", 2, 3), run("c", "f2obo", 1, 5, "gamma = 1");
  EXPECT_EQ(curves(plot(options({"a", "b", "c"}))), "a and 1 more 2, c 5");
  run("twin", "f2obo", 1, 1);  // the same seed again is not a second sample
  EXPECT_EQ(curves(plot(options({"a", "twin"}))), "a 1, twin 1");
  run("x/r", "f2obo", 1, 1), run("y/r", "f2obo", 1, 2);
  EXPECT_EQ(curves(plot(options({"x/r", "y/r"}))), fmt::format("{} 1, {} 2", folder.file("x/r"), folder.file("y/r")));
}

TEST_F(Plots, LoggingIsNoDifferenceBetweenRuns) {
  run("a", "f2obo", 1, 1, "[log]\nevery = 1"), run("b", "f2obo", 2, 3, "[log]\nevery = 10");
  EXPECT_EQ(curves(plot(options({"a", "b"}))), "f2obo 2");
}

TEST_F(Plots, RunsAndComparisonsShareAPanel) {
  cell("all", "AOBO", "", 1, 4), cell("all", "AOBO", "", 2, 6), cell("all", "f2obo", "", 1, 9);
  run("a", "f2obo", 1, 1);
  EXPECT_EQ(curves(plot(options({"all", "a"}))), "AOBO 5, all: f2obo 9, a 1");
}

TEST_F(Plots, ComparisonsWithoutEvaluationsHaveTheirCurves) {
  cell("all", "AOBO", "", 1, 4);
  const Plot p = plot(options({"all"}));
  EXPECT_EQ(p.figure.rows[0].panels[0].curves[0].x, (std::vector<double>{1, 2}));
  cell("both", "AOBO", "", 1, 4, true);
  const Plot q = plot(options({"both"}));
  ASSERT_EQ(q.figure.rows[0].panels.size(), 2u);
  EXPECT_EQ(q.figure.rows[0].panels[0].curves[0].x, (std::vector<double>{1, 2}));  // round 2 once
  EXPECT_EQ(q.figure.rows[0].panels[1].curves[0].x, (std::vector<double>{2}));
}

TEST_F(Plots, TheBestSettingIsTheSummarysAndElseTheFirst) {
  cell("all", "AOBO", "gamma=0.1", 1, 4), cell("all", "AOBO", "gamma=0.15", 1, 6);
  Plot p = plot(options({"all"}));
  EXPECT_EQ(curves(p), "AOBO 4");
  EXPECT_NE(p.remarks.at(0).find("'gamma=0.1', the first"), std::string::npos) << p.remarks.at(0);
  folder.write("all/summary.json", R"({"streams":[{"name":"quadratic","optimisers":[
    {"label":"AOBO","best":{"index":1,"setting":"gamma=0.15"}}]}]})");
  p = plot(options({"all"}));
  EXPECT_EQ(curves(p), "AOBO 6");
  EXPECT_NE(p.remarks.at(0).find("'gamma=0.15', the best"), std::string::npos) << p.remarks.at(0);
  folder.write("all/summary.json", "{");
  EXPECT_THROW((void)plot(options({"all"})), DataError);
}

TEST_F(Plots, SettingsAreChosenByWholeParts) {
  cell("all", "AOBO", "gamma=0.1, K=1", 1, 4), cell("all", "AOBO", "gamma=0.15, K=1", 1, 6);
  cell("all", "SOBOW", "", 1, 8);
  PlotOptions o = options({"all"});
  o.setting = "gamma=0.1";
  EXPECT_EQ(curves(plot(o)), "AOBO 4, SOBOW 8");
  o.setting = "all";
  EXPECT_EQ(curves(plot(o)), "AOBO, gamma=0.1, K=1 4, AOBO, gamma=0.15, K=1 6, SOBOW 8");
}

TEST_F(Plots, AChoiceThatNothingFitsIsRefusedWithWhatThereIs) {
  cell("all", "AOBO", "gamma=0.1", 1, 4);
  const auto refused = [&](PlotOptions o) -> std::string {
    try {
      (void)plot(o);
    } catch (const Error& e) {
      return e.what();
    }
    return "not refused";
  };
  PlotOptions o = options({"all"});
  o.setting = "gamma=7";
  EXPECT_NE(refused(o).find("'gamma=0.1'"), std::string::npos) << refused(o);
  o = options({"all"});
  o.only = {"aob"};
  EXPECT_NE(refused(o).find("did you mean 'AOBO'"), std::string::npos) << refused(o);
  o = options({"all"});
  o.stream = "static";
  EXPECT_NE(refused(o).find("quadratic"), std::string::npos) << refused(o);
  o = options({"all"});
  o.measures = {"regrets"};
  EXPECT_NE(refused(o).find("'regrets' (valid: f, "), std::string::npos) << refused(o);
}

TEST_F(Plots, ACutLastRecordIsIgnoredAndADamagedOneNamed) {
  cell("all", "AOBO", "", 1, 4);
  const std::string whole = folder.read("all/cells.jsonl");
  folder.write("all/cells.jsonl", whole + whole.substr(0, 50));
  EXPECT_EQ(curves(plot(options({"all"}))), "AOBO 4");
  folder.write("all/cells.jsonl", whole + "no JSON\n");
  EXPECT_THROW((void)plot(options({"all"})), DataError);
  folder.write("all/cells.jsonl", "");
  EXPECT_THROW((void)plot(options({"all"})), DataError);
}

TEST_F(Plots, AMeanEndsWithTheShortestRunAndSaysSo) {
  run("a", "f2obo", 1, 1);
  run("b", "f2obo", 2, 3);
  folder.write("b/trace.jsonl", "{\"t\":1,\"f\":3}\n");
  const Plot p = plot(options({"a", "b"}));
  EXPECT_EQ(p.figure.rows[0].panels[0].curves[0].x, std::vector<double>{1});
  EXPECT_NE(p.remarks.at(0).find("seed 2 ends at round 1, seed 1 at 2"), std::string::npos) << p.remarks.at(0);
}

TEST_F(Plots, RegretsAreLogarithmicAndGiveTheirSlopes) {
  std::filesystem::create_directories(folder.file("a"));
  std::string trace;
  for (int t = 1; t <= 400; ++t) trace += fmt::format("{{\"t\":{},\"f\":1,\"regret\":{}}}\n", t, 3 * std::pow(t, 0.75));
  folder.write("a/trace.jsonl", trace);
  PlotOptions o = options({"a"});
  Plot p = plot(o);
  EXPECT_TRUE(p.figure.rows[0].panels[0].log_y);
  EXPECT_FALSE(p.figure.rows[0].panels[1].log_y);
  EXPECT_EQ(p.figure.rows[0].panels[0].curves[0].note, "");
  o.log_x = true;
  o.log_y = false;
  p = plot(o);
  EXPECT_FALSE(p.figure.rows[0].panels[0].log_y);
  EXPECT_EQ(p.figure.rows[0].panels[0].curves[0].note, "slope 0.75");
}

}  // namespace
