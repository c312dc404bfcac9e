#include "report/report_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/run/comparison.hpp"
#include "obolus/run/experiment.hpp"
#include "report/config_facts.hpp"
#include "report/markdown_tables.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using Json = nlohmann::json;

std::string config(int seed, const std::string& more = {}, const std::string& problem = {}) {
  return fmt::format(
      "[problem]\nname = \"quadratic\"\ndrift = \"abrupt\"\nperiod = 10\nrounds = 40\nseed = {}\n{}\n"
      "[optimiser]\nname = \"f2obo\"\ngamma = 0.05\n{}\n[metrics]\ngamma = 0.05\n",
      seed, problem, more);
}

void run(const std::string& text, const std::string& folder) {
  RunControl control;
  control.directory = folder;
  control.about = R"({"command":"here"})";
  (void)Experiment(text, "config", ".").run(control);
}

Json report(const std::vector<std::string>& folders) {
  return Json::parse(report_json(folders, {"obolus report", "today"}));
}

TEST(Report, of_a_run_has_its_trace_its_config_and_where_its_stream_changes) {
  const test::TemporaryFolder folder;
  run(config(3), folder.file("one"));
  const Json json = report({folder.file("one")});
  const Json &source = json.at("sources").at(0), &one = json.at("runs").at(0);
  EXPECT_EQ(json.at("format"), 1);
  EXPECT_EQ(json.at("title"), "one");
  EXPECT_EQ(source.at("config"), folder.read("one/config.toml"));
  EXPECT_EQ(source.at("about").at(0).at("command"), "here");
  EXPECT_EQ(source.at("streams").at(0).at("marks").size(), 3u);
  EXPECT_EQ(source.at("streams").at(0).at("marks").at(0).at("t"), 11);
  EXPECT_EQ(one.at("optimiser"), "f2obo");
  EXPECT_EQ(one.at("seed"), 3);
  EXPECT_EQ(one.at("status"), "finished");
  EXPECT_EQ(one.at("columns").at("t").size(), 40u);
  const Json last = Json::parse(folder.read("one/summary.json"));
  EXPECT_NEAR(one.at("columns").at("regret").back().get<double>(), last.at("regret").get<double>(),
              1e-6 * last.at("regret").get<double>());  // seven digits
  EXPECT_EQ(one.at("x").at("values").size(), one.at("x").at("size").get<std::size_t>());
  EXPECT_EQ(one.at("x").at("t").front(), 1);
  EXPECT_EQ(one.at("final").at("values"), last.at("x").at("values"));
}

TEST(Report, tells_runs_apart_by_the_options_in_which_they_differ) {
  const test::TemporaryFolder folder;
  run(config(1), folder.file("a"));
  run(config(2), folder.file("b"));
  run(config(1, "inner_steps = 3"), folder.file("c"));
  run(config(1, "", "amplitude = 2.0"), folder.file("d"));
  const Json runs = report({folder.file("a"), folder.file("b"), folder.file("c"), folder.file("d")}).at("runs");
  EXPECT_EQ(runs[0].at("stream"), runs[1].at("stream"));  // the seed alone makes no other stream
  EXPECT_EQ(runs[0].at("setting"), runs[1].at("setting"));
  EXPECT_EQ(runs[2].at("setting"), "inner_steps=3");
  EXPECT_NE(runs[0].at("setting"), runs[2].at("setting"));
  EXPECT_EQ(runs[3].at("stream"), "quadratic (amplitude=2)");
  EXPECT_NE(runs[0].at("stream"), runs[3].at("stream"));
}

std::string fit_config(const char* name, int batch, int seed) {
  return fmt::format(
      "[problem]\nname = \"rows\"\n[optimiser]\nname = \"{}\"\n[fit]\noptimiser = \"first-order\"\nbatch = {}\n"
      "seed = {}\n",
      name, batch, seed);
}

TEST(Report, of_a_fit_has_its_alarms_its_summary_and_the_name_that_its_user_typed) {
  const test::TemporaryFolder folder;
  const char* trace = "{\"t\":1,\"f\":1.0}\n{\"t\":2,\"f\":1.0,\"alarm\":\"<b>adwin\"}\n";
  const char* summary = R"({"status":"running","rounds":2,"horizon":2,"rows":16,"tuned":["rate"]})";
  const auto write = [&](const std::string& name, const std::string& config) {
    std::filesystem::create_directory(folder.file(name));
    folder.write(name + "/trace.jsonl", trace);
    folder.write(name + "/summary.json", summary);
    folder.write(name + "/config.toml", config);
  };
  write("old", fit_config("forward", 8, 1));  // as fits once called themselves
  write("new", fit_config("first-order", 8, 2));
  write("other", fit_config("first-order", 1, 1));
  const Json json = report({folder.file("old"), folder.file("new"), folder.file("other")}), &runs = json.at("runs");
  for (const Json& run : runs) {
    EXPECT_EQ(run.at("optimiser"), "first-order");
    EXPECT_EQ(run.at("alarms"), Json::array({{{"t", 2}, {"text", "<b>adwin"}}}));
    EXPECT_EQ(run.at("status"), "running");
  }
  EXPECT_EQ(json.at("sources").at(0).at("summary"), Json::parse(summary));
  EXPECT_EQ(runs[0].at("setting"), "batch=8");
  EXPECT_EQ(runs[1].at("setting"), "batch=8");
  EXPECT_EQ(runs[1].at("seed"), 2);
  EXPECT_EQ(runs[2].at("setting"), "batch=1");
}

TEST(Report, of_a_comparison_has_every_run_and_its_tables) {
  const test::TemporaryFolder folder;
  const Comparison comparison(
      "[compare]\nseeds = [1, 2]\n[problem]\nname = \"quadratic\"\nrounds = 300\n[metrics]\ngamma = 0.05\n"
      "[[stream]]\nname = \"still\"\nproblem = { drift = \"static\" }\n"
      "[[stream]]\nname = \"jumps\"\nproblem = { drift = \"abrupt\", period = 100 }\n"
      "[[optimiser]]\nname = \"f2obo\"\ngamma = [0.05, 0.1]\n[[optimiser]]\nname = \"fsobo\"\ngamma = 0.05\n",
      "config", ".");
  ComparisonControl control;
  control.directory = folder.file("c");
  const auto result = comparison.run(control);
  const Json json = report({folder.file("c")});
  ASSERT_EQ(json.at("runs").size(), 2u * 3u * 2u);
  const Json& one = json.at("runs").at(0);
  const auto& t = one.at("columns").at("t");
  EXPECT_EQ(t.front(), 1);
  EXPECT_EQ(t.back(), 300);
  EXPECT_GE(t.size(), 120u);
  for (const char* name : {"regret", "f", "g", "lambda", "inner_steps", "grad_f", "grad_g", "seconds", "residual_y"})
    EXPECT_EQ(one.at("columns").at(name).size(), t.size()) << name;
  EXPECT_TRUE(one.contains("x"));
  const Json& streams = json.at("sources").at(0).at("streams");
  EXPECT_EQ(streams.at(0).at("marks").size(), 0u);
  EXPECT_EQ(streams.at(1).at("name"), "jumps");
  EXPECT_EQ(streams.at(1).at("marks").size(), 2u);
  const Json& best = json.at("sources").at(0).at("best");  // of each stream and optimiser
  ASSERT_EQ(best.size(), 4u);
  EXPECT_EQ(best.at(0).at("setting"),
            result->streams[0].optimisers[0].settings[obolus::best(result->streams[0].optimisers[0])].text);
  EXPECT_EQ(json.at("runs").at(1).at("seed"), 2);
  const auto tables = result->tables();
  ASSERT_EQ(json.at("sources").at(0).at("tables").size(), tables.size());
  EXPECT_EQ(json.at("sources").at(0).at("tables").at(0).at("title"), tables.at(0).title);
}

TEST(Report, of_a_long_run_is_thinned_and_keeps_the_evaluated_rounds_and_the_last) {
  const test::TemporaryFolder folder;
  std::string trace;
  constexpr int rounds = 50'001;
  for (int t = 1; t <= rounds; ++t)
    trace += t % 1000 == 777 ? fmt::format("{{\"t\":{},\"f\":1.0,\"evaluation\":{{\"loss\":{}.0}}}}\n", t, t)
                             : fmt::format("{{\"t\":{},\"f\":1.0,\"capped\":true}}\n", t);
  folder.write("trace.jsonl", trace + "{\"t\":50002,\"f\":");  // torn: still being written
  const Json one = report({folder.path()}).at("runs").at(0);
  const Json &t = one.at("columns").at("t"), &loss = one.at("evaluation").at("loss");
  EXPECT_LE(t.size(), 20'000u);
  EXPECT_GE(t.size(), 10'000u);
  EXPECT_EQ(t.front(), 1);
  EXPECT_EQ(t.back(), rounds);
  EXPECT_TRUE(std::is_sorted(t.begin(), t.end()));
  int evaluated = 0;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (!loss[i].is_null()) {
      EXPECT_EQ(loss[i], t[i]);
      ++evaluated;
    }
  EXPECT_EQ(evaluated, 50);
  EXPECT_EQ(one.at("status"), "running");
}

// What a run has in rounds that are thinned away: every second one evaluated, and x to the end.
TEST(Report, of_a_long_run_that_evaluates_often_is_thinned_evenly_and_has_all_of_its_paths) {
  const test::TemporaryFolder folder;
  std::string trace;
  constexpr Round rounds = 60'000;
  for (Round t = 1; t <= rounds; ++t) {
    trace += fmt::format("{{\"t\":{}", t);
    if (t % 2 == 0) trace += ",\"evaluation\":{\"loss\":1.0}";
    if (profiled(t)) trace += fmt::format(",\"x_size\":400,\"x_quantiles\":[{0}.0,{0}.0]", t);
    trace += "}\n";
  }
  folder.write("trace.jsonl", trace);
  const Json one = report({folder.path()}).at("runs").at(0);
  const Json &t = one.at("columns").at("t"), &x = one.at("x");
  EXPECT_LE(t.size(), 20'000u);
  EXPECT_EQ(x.at("size"), 400);
  EXPECT_GT(x.at("t").back().get<Round>(), rounds * 31 / 32);
  EXPECT_EQ(x.at("quantiles").at(0), x.at("t"));
  for (std::size_t part = 0; part < 6; ++part) {
    std::size_t rows = 0, evaluated = 0;
    for (std::size_t i = 0; i < t.size(); ++i)
      if (t[i].get<std::size_t>() / 10'000 == part) {
        ++rows;
        evaluated += !one.at("evaluation").at("loss")[i].is_null();
      }
    EXPECT_GT(rows, t.size() / 6 * 9 / 10) << part;  // an even part, give or take where a stride doubled
    EXPECT_GT(evaluated, rows / 4) << part;
  }
  for (Round early = 1; early <= 32; ++early) EXPECT_EQ(t.at(to_size(early - 1)), early);
}

TEST(Report, of_a_resumed_run_does_not_call_it_finished) {
  const test::TemporaryFolder folder;
  run(config(3), folder.file("one"));
  folder.write("one/trace.jsonl", folder.read("one/trace.jsonl") + "{\"t\":41,\"f\":1.0}\n");
  const Json one = report({folder.file("one")}).at("runs").at(0);
  EXPECT_EQ(one.at("status"), "running");
  EXPECT_EQ(one.at("horizon"), 41);
  EXPECT_FALSE(one.contains("final"));
}

TEST(Report, keeps_numbers_that_are_too_small_to_be_normal) {
  const test::TemporaryFolder folder;
  folder.write("trace.jsonl", "{\"t\":1,\"f\":4.9e-324}\n");
  EXPECT_EQ(report({folder.path()}).at("runs").at(0).at("columns").at("f").at(0).get<double>(), 4.9e-324);
}

TEST(Report, of_what_nests_without_end_or_names_without_end_is_refused) {
  const test::TemporaryFolder folder;
  folder.write("trace.jsonl", "{\"t\":1}\n");
  folder.write("about.jsonl", std::string(300'000, '[') + std::string(300'000, ']') + "\n{\"command\":\"fine\"}\n");
  EXPECT_EQ(report({folder.path()}).at("sources").at(0).at("about").size(), 1u);
  folder.write("summary.json", std::string(200'000, '[') + std::string(200'000, ']'));
  EXPECT_THROW((void)report({folder.path()}), DataError);
  std::filesystem::remove(folder.file("summary.json"));
  std::string names = "{\"t\":1";
  for (int i = 0; i < 2000; ++i) names += fmt::format(",\"n{}\":1.0", i);
  folder.write("trace.jsonl", names + "}\n");
  EXPECT_THROW((void)report({folder.path()}), DataError);
}

TEST(Report, of_what_is_no_run_or_is_damaged_is_refused_by_name) {
  const test::TemporaryFolder folder;
  const auto message = [&] {
    try {
      (void)report_json({folder.path()}, {});
    } catch (const DataError& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_NE(message().find("expected trace.jsonl"), std::string::npos) << message();
  folder.write("trace.jsonl", "{\"t\":1}\nnonsense\n{\"t\":3}\n");
  EXPECT_NE(message().find("trace.jsonl:2"), std::string::npos) << message();
  folder.write("trace.jsonl", "{\"t\":1}\n");
  folder.write("summary.json", "{\"status\": 3}");
  EXPECT_NE(message().find("summary.json"), std::string::npos) << message();
  for (const char* trace : {"[]\n", "{}\n", "{\"t\":\"x\"}\n", "{\"t\":1,\"evaluation\":3}\n",
                            "{\"t\":1,\"x_values\":[\"a\"]}\n", "{\"t\":0}\n", "{\"t\":1.5}\n", "{\"t\":1e300}\n"}) {
    folder.write("trace.jsonl", trace);
    EXPECT_NE(message().find("trace.jsonl:1"), std::string::npos) << trace << message();
  }
}

TEST(Report, survives_names_that_are_no_text) {
  const test::TemporaryFolder folder;
  folder.write("trace.jsonl", "{\"t\":1,\"f\":2.0}\n");
  folder.write("config.toml", "\xff\xfe not TOML </script>");
  const Json json = report({folder.path()});
  EXPECT_NE(json.at("sources").at(0).at("config").get<std::string>().find("</script>"), std::string::npos);
}

TEST(ConfigFacts, marks_are_where_the_problem_changes) {
  const auto rounds = [](const std::string& problem, Round horizon) {
    std::vector<Round> t;
    for (const DriftMark& m : drift_marks("[problem]\n" + problem, horizon)) t.push_back(m.t);
    return t;
  };
  EXPECT_EQ(rounds("drift = \"swap\"\nperiod = 40", 100), (std::vector<Round>{41, 81}));
  EXPECT_EQ(rounds("proportions = [0.6, 0.7, 0.8]\nphase_rounds = 10", 100), (std::vector<Round>{11, 21}));
  EXPECT_EQ(rounds("noise = [0.0, 0.4]\nnoise_rounds = [1.0, 30.0]", 100), (std::vector<Round>{30}));
  EXPECT_EQ(rounds("drift = \"slow\"\nperiod = 40", 100), (std::vector<Round>{}));
  EXPECT_EQ(rounds("drift = \"swap\"\nperiod = 1", 100'000), (std::vector<Round>{}));  // too many to see
  EXPECT_EQ(rounds("drift = \"swap\"\nperiod = -4", 100), (std::vector<Round>{}));
}

TEST(ConfigFacts, streams_of_a_comparison_have_the_defaults_of_their_own_problems) {
  const auto facts = facts_of_comparison(
      "[problem]\nname = \"softmax_l2\"\ndrift = \"swap\"\n[[stream]]\nname = \"a\"\n"
      "[[stream]]\nname = \"b\"\nproblem = { name = \"oscillation\" }\n",
      2500);
  EXPECT_EQ(facts.streams.at("a").marks.size(), 2u);
  EXPECT_EQ(facts.streams.at("a").marks.at(0).t, 1001);
  EXPECT_TRUE(facts.streams.at("b").marks.empty());
}

TEST(MarkdownTables, are_read_with_their_titles_alignment_and_escaped_bars) {
  const Json tables =
      markdown_tables("# Comparison\n\n## A table\n\n| a | b \\| c |\n|---|---:|\n| x | 1 |\n| y |  |\n\ntext\n#\n");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].at("title"), "A table");
  EXPECT_EQ(tables[0].at("header"), Json({"a", "b | c"}));
  EXPECT_EQ(tables[0].at("align"), "lr");
  EXPECT_EQ(tables[0].at("rows"), Json::array({Json::array({"x", "1"}), Json::array({"y", ""})}));
  EXPECT_TRUE(markdown_tables("").empty());
}

}  // namespace
