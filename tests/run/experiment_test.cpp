#include "obolus/run/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "obolus/any/listing.hpp"
#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using obolus::test::TemporaryFolder;
using Overrides = std::vector<std::string>;

const std::string quadratic = R"(
[problem]
name = "quadratic"
rounds = 24
dim_x = 3
dim_y = 4
noise = 0.2
noise_cross = 0.1
[optimiser]
name = "sf2obo"
samples = "fresh"
[domain]
set = "l2_ball"
radius = 0.7
[log]
vectors = true
checkpoint_every = 5
)";

Experiment experiment(const Overrides& overrides = {}, const std::string& text = quadratic) {
  return Experiment(text, "test.toml", "", overrides);
}

std::string refusal(const Overrides& overrides, const std::string& text = quadratic) {
  try {
    (void)experiment(overrides, text);
  } catch (const ConfigError& e) {
    return e.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

const std::string network = R"(
[problem]
name = "loss_tuning"
rounds = 12
precision = "float"
[optimiser]
name = "sobow"
gamma = 0.001
[metrics]
reference_steps = 5
reference_products = 5
every = 4
variation = false
[log]
checkpoint_every = 5
)";

// The clock's numbers taken out, in a trace as in a summary.
std::string without_seconds(std::string text) {
  const std::string key = "\"seconds\":";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + key.size()))
    text.erase(at + key.size(), text.find_first_of(",}\n", at) - at - key.size());
  return text;
}

// ---- Running and resuming ------------------------------------------------------------------------------------------

struct Interrupted {};

// The first rounds, ended after round `cut`: stopped (which saves) or killed (which leaves the last checkpoint).
void run_part(const std::string& directory, Round cut, bool killed, const Overrides& overrides) {
  RunControl control;
  control.directory = directory;
  control.on_row = [&](const Row& row) {
    if (row.t < cut) return true;
    if (killed) throw Interrupted{};
    return false;
  };
  try {
    (void)experiment(overrides).run(control);
  } catch (const Interrupted&) {
  }
}

TEST(Experiment, ARunCutAtAnyRoundAndResumedWritesTheSameTraceButForTheClock) {
  for (const Overrides& way :
       {Overrides{}, Overrides{"optimiser.warm_start=dual", "problem.precision=float"},
        Overrides{"problem.drift=abrupt", "problem.period=4", "log.every=3", "problem.sine=0.4"},
        Overrides{"problem.evaluate=true", "metrics.evaluate_every=4"},
        Overrides{"metrics.window=4", "metrics.window_decay=0.9"},
        Overrides{"problem.evaluate=true", "metrics.regret=false", "metrics.every=5", "metrics.variation=false"}}) {
    const TemporaryFolder folder;
    RunControl control;
    control.directory = folder.file("whole");
    const RunSummary whole = experiment(way).run(control);
    EXPECT_EQ(whole.end.status, RunStatus::finished);
    const std::string trace = without_seconds(folder.read("whole/trace.jsonl"));
    for (Round cut = 1; cut <= 24; ++cut)
      for (const bool killed : {false, true}) {
        const std::string directory = folder.file("part");
        std::filesystem::remove_all(directory);
        run_part(directory, cut, killed, way);
        RunControl again;
        again.directory = directory;
        again.resume = true;
        ASSERT_EQ(experiment(way).run(again).end.status, RunStatus::finished);
        ASSERT_EQ(without_seconds(folder.read("part/trace.jsonl")), trace)
            << (killed ? "killed" : "stopped") << " at " << cut;
        ASSERT_EQ(without_seconds(folder.read("part/summary.json")),
                  without_seconds(folder.read("whole/summary.json")));
        ASSERT_EQ(folder.read("part/config.toml"), folder.read("whole/config.toml"));
      }
  }
}

TEST(Experiment, AFinishedRunResumedWithMoreRoundsIsTheLongRun) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("long");
  (void)experiment({"problem.rounds=40"}).run(control);
  control.directory = folder.file("grown");
  (void)experiment({"problem.rounds=15"}).run(control);
  control.resume = true;
  (void)experiment({"problem.rounds=40"}).run(control);
  EXPECT_EQ(without_seconds(folder.read("grown/trace.jsonl")), without_seconds(folder.read("long/trace.jsonl")));
}

// Options that an older build did not have stand at the value that its runs had.
TEST(Experiment, ARunWhoseConfigLacksNewerOptionsIsResumed) {
  const TemporaryFolder folder;
  run_part(folder.file("run"), 9, false, {});
  std::string config, removed;
  std::istringstream lines(folder.read("run/config.toml"));
  for (std::string line; std::getline(lines, line);)
    (line.starts_with("window") || line.starts_with("variation_solves") ? removed : config) += line + "\n";
  EXPECT_EQ(std::count(removed.begin(), removed.end(), '\n'), 3);
  folder.write("run/config.toml", config);
  RunControl control;
  control.directory = folder.file("run");
  control.resume = true;
  EXPECT_THROW((void)experiment({"metrics.window=4"}).run(control), ConfigError);
  EXPECT_EQ(experiment().run(control).end.status, RunStatus::finished);
}

TEST(Experiment, AWindowAveragedRegretIsInRowsAndSummary) {
  Row last;
  RunControl control;
  control.on_row = [&](const Row& row) {
    last = row;
    return true;
  };
  const RunSummary s = experiment({"metrics.window=4", "metrics.window_decay=0.9"}).run(control);
  ASSERT_TRUE(s.window);
  EXPECT_EQ(s.window->current, last.window_regret);
  EXPECT_EQ(s.window->trailing, last.trailing_regret);
  EXPECT_GT(s.window->current, 0.0);
  const auto json = nlohmann::json::parse(s.json());
  EXPECT_EQ(json["window_regret"]["window"], 4);
  EXPECT_EQ(json["window_regret"]["decay"], 0.9);
  EXPECT_EQ(json["window_regret"]["at_current_x"], last.window_regret);
  EXPECT_EQ(s.regret, experiment().run({}).regret);
  EXPECT_FALSE(nlohmann::json::parse(experiment().run({}).json()).contains("window_regret"));
  EXPECT_TRUE(says(refusal({"metrics.window=4", "metrics.regret=false"}), "window: got 4"));
}

TEST(Experiment, Af2oboShowsTheBoundOfItsIterationsBesideThem) {
  const std::string text = R"(
[problem]
name = "oscillation"
rounds = 50
[start]
x = 0.3
[optimiser]
name = "af2obo"
preset = "theory"
[domain]
set = "box"
lower = -1.0
upper = 1.0
)";
  const RunSummary s = experiment({}, text).run({});
  ASSERT_TRUE(s.bound && s.iteration_bound);
  EXPECT_LE(static_cast<double>(s.inner_steps), s.iteration_bound->value);
  const auto json = nlohmann::json::parse(s.json());
  EXPECT_EQ(json["inner_steps"], s.inner_steps);
  EXPECT_EQ(json["inner_steps_bound"]["value"], s.iteration_bound->value);
  EXPECT_EQ(json["variation"]["Psi_T"]["kind"], "exact");
  EXPECT_EQ(json["variation"]["E_g_xy"]["value"], 4.0 * 49);
  EXPECT_FALSE(experiment({"optimiser.name=f2obo"}, text).run({}).iteration_bound);
}

TEST(Experiment, ResumingToFewerRoundsThanDoneIsAnError) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("run");
  (void)experiment().run(control);
  control.resume = true;
  EXPECT_THROW((void)experiment({"problem.rounds=10"}).run(control), ConfigError);
}

TEST(Experiment, RunningTwiceGivesTheSameRows) {
  const Experiment e = experiment();
  const RunSummary first = e.run({}), second = e.run({});
  EXPECT_EQ(first.last.regret, second.last.regret);
  EXPECT_EQ(first.last.f, second.last.f);
  EXPECT_EQ(first.last.counts, second.last.counts);
}

TEST(Experiment, AnotherSeedIsAnotherRun) {
  EXPECT_NE(experiment().run({}).last.regret, experiment({"problem.seed=2"}).run({}).last.regret);
}

TEST(Experiment, TheRowsSumToTheSummary) {
  std::int64_t steps = 0;
  double regret = 0.0;
  RunControl control;
  control.on_row = [&](const Row& row) {
    steps += row.inner_steps;
    regret += row.regret_increment;
    return true;
  };
  const RunSummary s = experiment().run(control);
  EXPECT_EQ(s.inner_steps, steps);
  EXPECT_EQ(s.last.regret, regret);
  EXPECT_EQ(s.end.rounds, 24);
  EXPECT_EQ(s.horizon, 24);
}

TEST(Experiment, EveryLineOfTheTraceIsAnObjectWithTheKeysPromised) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("run");
  std::vector<Row> rows;
  control.on_row = [&](const Row& row) {
    rows.push_back(row);
    return true;
  };
  (void)experiment().run(control);
  std::istringstream trace(folder.read("run/trace.jsonl"));
  std::size_t i = 0;
  for (std::string line; std::getline(trace, line); ++i) {
    const auto object = nlohmann::json::parse(line);
    for (const char* key :
         {"t", "f", "g", "regret", "regret_increment", "own_mapping", "hypergradient_error", "residual_y", "residual_z",
          "lambda", "inner_steps", "grad_f", "grad_g", "hvp", "seconds", "x", "y"})
      EXPECT_TRUE(object.contains(key)) << key;
    ASSERT_LT(i, rows.size());
    EXPECT_EQ(object["t"], rows[i].t);
    EXPECT_EQ(object["regret"].get<double>(), rows[i].regret);  // to the last bit
    EXPECT_EQ(object["grad_g"], rows[i].counts.grad_g());
    EXPECT_EQ(object["x"].size(), 3u);
    EXPECT_EQ(object["y"].size(), 4u);
  }
  EXPECT_EQ(i, 24u);
  const auto summary = nlohmann::json::parse(folder.read("run/summary.json"));
  EXPECT_EQ(summary["status"], "finished");
  EXPECT_EQ(summary["regret"].get<double>(), rows.back().regret);
}

// Trace and summary of a run in a folder.
std::pair<std::vector<nlohmann::json>, nlohmann::json> files_of(const Overrides& overrides) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("run");
  (void)experiment(overrides).run(control);
  std::istringstream trace(folder.read("run/trace.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(trace, line);) lines.push_back(nlohmann::json::parse(line));
  return {lines, nlohmann::json::parse(folder.read("run/summary.json"))};
}

TEST(Experiment, EvaluationsStandInTheTraceAndTheLastOneInTheSummary) {
  const auto [lines, summary] = files_of({"problem.evaluate=true", "metrics.evaluate_every=10"});
  double losses = 0.0;
  ASSERT_EQ(lines.size(), 24u);
  for (const auto& line : lines) {
    const Round t = line["t"];
    losses += line["f"].get<double>();
    ASSERT_EQ(line.contains("evaluation"), t % 10 == 0 || t == 24) << t;
    if (!line.contains("evaluation")) continue;
    EXPECT_EQ(line["evaluation"].size(), 3u);
    EXPECT_GT(line["evaluation"]["inner_distance"], 0.0);
    EXPECT_DOUBLE_EQ(line["evaluation"]["prequential_loss"], losses / static_cast<double>(t));
  }
  EXPECT_EQ(summary["evaluation"], lines.back()["evaluation"]);
  EXPECT_EQ(summary["evaluated_round"], 24);
  EXPECT_FALSE(files_of({}).second.contains("evaluation"));
}

TEST(Experiment, EvaluatedRoundsAreInTheTraceHoweverSparseItIs) {
  const auto [lines, summary] = files_of({"problem.evaluate=true", "metrics.evaluate_every=10", "log.every=8"});
  std::vector<Round> rounds;
  for (const auto& line : lines) rounds.push_back(line["t"]);
  EXPECT_EQ(rounds, (std::vector<Round>{8, 10, 16, 20, 24}));
}

TEST(Experiment, WhatIsNotMeasuredIsAbsent) {
  const auto [lines, summary] =
      files_of({"metrics.regret=false", "metrics.every=10", "metrics.residuals=false", "optimiser.inner_steps=2"});
  ASSERT_EQ(lines.size(), 24u);
  for (const auto& line : lines) {
    const Round t = line["t"];
    for (const char* key : {"f", "g", "own_mapping", "x", "y"})
      EXPECT_EQ(line.contains(key), t % 10 == 0 || t == 24) << key << ", round " << t;
    for (const char* key :
         {"regret", "regret_increment", "hypergradient_error", "residual_y", "residual_z", "distance_y", "distance_z"})
      EXPECT_FALSE(line.contains(key)) << key;
    EXPECT_EQ(line["inner_steps"], 2);
    EXPECT_GT(line["grad_g"], 0);
  }
  for (const char* key : {"regret", "regret_gamma", "hypergradient", "bound", "certified"})
    EXPECT_FALSE(summary.contains(key)) << key;
  EXPECT_EQ(summary["last"]["f"], lines.back()["f"]);
  EXPECT_FALSE(summary["last"].contains("residual_y"));
}

TEST(Experiment, MeasuringLessChangesNothingElse) {
  const auto [all, whole] = files_of({});
  const auto [some, part] = files_of({"metrics.regret=false", "metrics.every=7"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(some[i]["lambda"], all[i]["lambda"]);
    EXPECT_EQ(some[i]["grad_f"], all[i]["grad_f"]);
    for (const char* key : {"f", "x"})
      EXPECT_TRUE(!some[i].contains(key) || some[i][key] == all[i][key]) << key << ", round " << i + 1;
  }
  EXPECT_EQ(part["oracle"], whole["oracle"]);
}

TEST(Experiment, ARegretOfSomeRoundsIsRefused) {
  const std::string message = refusal({"metrics.every=5"});
  EXPECT_TRUE(says(message, "metrics.every") && says(message, "regret = false") && says(message, "sum")) << message;
  (void)experiment({"metrics.every=5", "metrics.regret=false"});
}

TEST(Experiment, AFinishedRunResumedKeepsItsEvaluation) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("run");
  const RunSummary first = experiment({"problem.evaluate=true"}).run(control);
  control.resume = true;
  const RunSummary second = experiment({"problem.evaluate=true"}).run(control);
  EXPECT_FALSE(first.evaluated.evaluation.empty());
  EXPECT_EQ(second.evaluated.evaluation, first.evaluated.evaluation);
}

TEST(Experiment, ARunThatDivergesNamesTheRoundAndKeepsItsTrace) {
  const TemporaryFolder folder;
  RunControl control;
  control.directory = folder.file("run");
  const std::string text =
      "[problem]\nname = \"quadratic\"\nrounds = 1000\n[optimiser]\nname = \"f2obo\"\nalpha = 50.0\n";
  const RunSummary s = experiment({}, text).run(control);
  EXPECT_EQ(s.end.status, RunStatus::diverged);
  EXPECT_LT(s.end.rounds, 1000);
  EXPECT_FALSE(s.end.quantity.empty());
  const auto summary = nlohmann::json::parse(folder.read("run/summary.json"));
  EXPECT_EQ(summary["status"], "diverged");
  EXPECT_EQ(summary["diverged"]["round"], s.end.rounds + 1);
}

// ---- The config ----------------------------------------------------------------------------------------------------

TEST(Experiment, TheEchoOfTheEchoIsTheEcho) {
  for (const Listing& optimiser : list_optimisers())
    for (const char* preset : {"default", "paper", "theory"}) {
      const std::string text =
          "[problem]\nname = \"quadratic\"\n[optimiser]\nname = \"" + optimiser.name + "\"\npreset = \"" + preset +
          "\"\n[metrics]\ngamma = 0.05\n[domain]\nset = \"box\"\nlower = [-1, -inf, 0, 0, -2.5]\n" +
          "upper = 3\n[start]\nx = [0.1, 1e-300, 3, 0.30000000000000004, -1]\n";
      const bool theorems = optimiser.name.find("f2obo") != std::string::npos;
      if (std::string(preset) == "theory" && !theorems) {
        EXPECT_THROW((void)experiment({}, text), ConfigError) << optimiser.name;
        continue;
      }
      if (std::string(preset) == "paper" && !theorems && optimiser.name != "aobo") continue;
      const Overrides bounded{"domain.lower=-1"};  // theory needs a bounded domain
      const Experiment e = experiment(std::string(preset) == "theory" ? bounded : Overrides{}, text);
      const Experiment again = experiment({}, e.config());
      EXPECT_EQ(again.config(), e.config()) << optimiser.name << ", " << preset;
    }
}

TEST(Experiment, TheEchoGivesTheSameRun) {
  const Experiment e = experiment({"optimiser.gamma={ scale = 0.02, power = -0.25, most = 0.015 }"});
  EXPECT_EQ(experiment({}, e.config()).run({}).last.regret, e.run({}).last.regret);
}

TEST(Experiment, TheEchoHasEveryOptionOfEverySection) {
  const std::string echo = experiment().config();
  const auto check = [&](const std::vector<Listing>& list, const std::string& name) {
    for (const Listing& l : list)
      for (const OptionListing& o : l.options)
        EXPECT_TRUE(l.name != name || says(echo, "\n" + o.name + " = ") || says(echo, "\n# " + o.name + " is not set"))
            << o.name;
  };
  check(list_problems(), "quadratic");
  check(list_optimisers(), "sf2obo");
  check(list_sets(), "l2_ball");
}

TEST(Experiment, AnUnknownKeySuggestsTheNearest) {
  EXPECT_TRUE(says(refusal({"optimiser.gama=0.1"}), "'gamma'"));
  EXPECT_TRUE(says(refusal({"problem.dimx=3"}), "'dim_x'"));
  EXPECT_TRUE(says(refusal({"domain.radios=3"}), "'radius'"));
  EXPECT_TRUE(says(refusal({"metrics.gama=3"}), "'gamma'"));
  EXPECT_TRUE(says(refusal({"log.vector=true"}), "'vectors'"));
  EXPECT_TRUE(says(refusal({"start.velocity=0"}), "valid: x, y"));  // nothing is near
  EXPECT_TRUE(says(refusal({"optimizer.name=f2obo"}), "'optimiser'"));
  EXPECT_TRUE(says(refusal({"optimiser.name=f2ob"}), "'f2obo'"));
  EXPECT_TRUE(says(refusal({"problem.name=quadratik"}), "'quadratic'"));
  EXPECT_TRUE(says(refusal({"optimiser.warm_start=dula"}), "'dual'"));
  EXPECT_TRUE(says(refusal({"domain.set=bxo"}), "'box'"));
}

TEST(Experiment, ErrorsPointToTheLineTheyAreAbout) {
  EXPECT_TRUE(says(refusal({}, "[problem]\nname = \"quadratic\"\nrounds = 0\n"), "test.toml:3:"));
  EXPECT_TRUE(says(refusal({}, "[problem]\nname = \"quadratic\n"), "test.toml:2:"));
  EXPECT_TRUE(
      says(refusal({}, "[problem]\nname = \"quadratic\"\nunknwon = 1\n[optimiser]\nname=\"f2obo\"\n"), "test.toml:3:"));
}

TEST(Experiment, ValuesOutOfRangeOrOfAnotherTypeAreRefusedByName) {
  for (const char* bad : {"problem.rounds=0", "problem.rounds=1.5", "problem.rounds=many", "optimiser.alpha=0",
                          "optimiser.alpha=nan", "optimiser.tau=-1", "domain.radius=0", "domain.radius=inf",
                          "metrics.gamma=0", "log.every=0", "log.vectors=1", "problem.condition=0.5"}) {
    const std::string option(bad, std::strchr(bad, '='));
    EXPECT_TRUE(says(refusal({bad}), option)) << bad << ": " << refusal({bad});
  }
  EXPECT_TRUE(says(refusal({"start.x=[1, 2]"}), "start.x"));
  EXPECT_TRUE(says(refusal({"domain.set=box", "domain.lower=[0, 0]", "domain.upper=1"}), "domain.lower"));
}

TEST(Experiment, WhatIsMissingIsNamed) {
  EXPECT_TRUE(says(refusal({}, "[optimiser]\nname = \"f2obo\"\n"), "[problem] name"));
  EXPECT_TRUE(says(refusal({}, "[problem]\nname = \"quadratic\"\n"), "[optimiser] name"));
  EXPECT_TRUE(says(refusal({}, "[problem]\nname = \"quadratic_file\"\n[optimiser]\nname = \"f2obo\"\n"), "path"));
}

TEST(Experiment, ARegretWithoutAGammaOfTheOptimisersOwnNamesIt) {
  const std::string fixed = "[problem]\nname = \"quadratic\"\nrounds = 5\n[optimiser]\nname = \"fixed\"\n";
  EXPECT_TRUE(says(refusal({}, fixed), "metrics.gamma")) << refusal({}, fixed);
  EXPECT_GT(experiment({"metrics.gamma=0.1"}, fixed).run({}).last.regret, 0.0);
  EXPECT_EQ(experiment({"metrics.regret=false"}, fixed).run({}).end.rounds, 5);
}

TEST(Experiment, OverridesWinAndTheLastOneMost) {
  EXPECT_EQ(experiment({"problem.rounds=7"}).rounds(), 7);
  EXPECT_EQ(experiment({"problem.rounds=7", "problem.rounds=9"}).rounds(), 9);
  EXPECT_TRUE(says(experiment({"metrics.gamma=0.25"}).config(), "gamma = 0.25"));  // a section that was not there
  EXPECT_TRUE(says(experiment({"optimiser.warm_start=tied"}).config(), "warm_start = \"tied\""));      // without quotes
  EXPECT_TRUE(says(experiment({"optimiser.warm_start=\"tied\""}).config(), "warm_start = \"tied\""));  // and with
  for (const char* bad : {"rounds=7", "problem.=7", ".rounds=7", "problem.rounds", "=", ""})
    EXPECT_TRUE(says(refusal({bad}), "section.key=value")) << bad;
}

TEST(Experiment, APresetIsWhereTheOtherOptionsStartFrom) {
  const std::string paper = experiment({"optimiser.preset=paper"}).config();
  EXPECT_TRUE(says(paper, "\ngamma = 0.001 ")) << paper;  // the paper's appendix
  EXPECT_TRUE(says(paper, "\ntau = 1.0 "));
  EXPECT_TRUE(says(paper, "\nsamples = \"fresh\""));  // the config's own word stands
  EXPECT_TRUE(says(experiment({"optimiser.preset=paper", "optimiser.tau=0.5"}).config(), "\ntau = 0.5 "));
}

TEST(Experiment, TheTheoryPresetNamesTheConstantsItMisses) {
  const std::string message = refusal({"optimiser.preset=theory", "domain.set=all"});
  EXPECT_TRUE(says(message, "L_f0")) << message;
  EXPECT_TRUE(says(message, "optimiser.L_f0")) << message;
}

TEST(Experiment, ALoadedFileFindsItsStreamBesideItself) {
  const TemporaryFolder folder;
  folder.write("stream.json", R"({"dims":{"x":1,"y":1},"rounds":[{"A":2,"B":1,"b":0,"w":1,"c":1,"s":0,"r":1,"e":0}]})");
  folder.write(
      "config.toml",
      "[problem]\nname = \"quadratic_file\"\npath = \"stream.json\"\nrounds = 3\n[optimiser]\nname = \"f2obo\"\n");
  const Experiment e = Experiment::load(folder.file("config.toml"));
  EXPECT_EQ(e.run({}).end.rounds, 3);
  EXPECT_TRUE(says(e.config(), folder.file("stream.json")));  // absolute: the echo works from anywhere
  EXPECT_THROW((void)Experiment::load(folder.file("none.toml")), ConfigError);
}

// ---- Problems that are not convex -----------------------------------------------------------------------------------

TEST(ExperimentOnANetwork, StartsWhereTheProblemSays) {
  const RunSummary s = experiment({"optimiser.name=\"fixed\"", "metrics.regret=false"},
                                  [] {
                                    std::string text = network;
                                    text.erase(text.find("gamma"), 14);
                                    return text;
                                  }())
                           .run({});
  EXPECT_EQ(s.end.status, RunStatus::finished);
  EXPECT_EQ(s.evaluated.evaluation.find("scale_least"), 1.0);
  EXPECT_EQ(s.evaluated.evaluation.find("shift_most"), 0.0);
  const RunSummary other = experiment({"start.x=0.5"}, network).run({});
  EXPECT_LT(other.evaluated.evaluation.find("scale_most").value(), 0.9);
}

TEST(ExperimentOnANetwork, ARegretNeedsReferenceSteps) {
  const std::string message = refusal({"metrics.reference_steps=0", "metrics.every=1"}, network);
  EXPECT_TRUE(says(message, "reference_steps") && says(message, "not convex")) << message;
  EXPECT_TRUE(says(refusal({"metrics.reference_steps=0", "metrics.every=4"}, network), "every"));
  EXPECT_TRUE(says(refusal({"metrics.every=5"}, network), "divisor of the 12 rounds"));
}

// Rounds 4, 8 and 12 are measured, each for four.
TEST(ExperimentOnANetwork, TheRegretIsEstimatedFromTheMeasuredRounds) {
  double sum = 0.0;
  std::vector<Round> measured;
  RunControl control;
  control.on_row = [&](const Row& row) {
    if (row.has_regret) {
      sum += 4.0 * row.regret_increment;
      measured.push_back(row.t);
    }
    return true;
  };
  const RunSummary s = experiment({}, network).run(control);
  EXPECT_EQ(measured, (std::vector<Round>{4, 8, 12}));
  EXPECT_DOUBLE_EQ(s.last.regret, sum);
  EXPECT_FALSE(s.convex);
  EXPECT_TRUE(says(s.json(), "reference steps"));
}

TEST(ExperimentOnANetwork, AReferenceThatLeavesTheNumbersDoesNotEndTheRun) {
  const RunSummary s = experiment({"metrics.reference_alpha=1e8"}, network).run({});
  EXPECT_EQ(s.end.status, RunStatus::finished);
  EXPECT_EQ(s.untrusted, 3);
  EXPECT_EQ(s.left_out, 3);
  EXPECT_TRUE(std::isnan(s.regret)) << "nothing was measured";
  EXPECT_TRUE(nlohmann::json::parse(s.json())["regret"].is_null());
}

TEST(ExperimentOnANetwork, AStoppedRunKeepsItsRegretSoFar) {
  RunControl control;
  control.on_row = [&](const Row& row) { return row.t < 6; };
  const RunSummary s = experiment({}, network).run(control);
  EXPECT_FALSE(s.last.has_regret);
  EXPECT_GT(s.regret, 0.0);
}

TEST(ExperimentOnANetwork, NegativeCurvatureIsCountedAndDampingIsTheRemedy) {
  const RunSummary plain = experiment({"problem.rounds=15", "metrics.regret=false"}, network).run({});
  EXPECT_GT(plain.indefinite_rounds, 0);
  EXPECT_EQ(plain.evaluated.evaluation.find("indefinite_rounds"), double(plain.indefinite_rounds));
  const RunSummary damped =
      experiment({"problem.rounds=15", "metrics.regret=false", "optimiser.damping=10.0"}, network).run({});
  EXPECT_EQ(damped.indefinite_rounds, 0);
}

TEST(ExperimentOnANetwork, TwoThreadsGiveTheSameBitsAndSoDoesAResumedRun) {
  const TemporaryFolder folder;
  const auto run = [&](const char* name, int threads, Round stop_after) {
    RunControl control;
    control.directory = folder.file(name);
    control.threads = threads;
    control.on_row = [&](const Row& row) { return row.t != stop_after; };
    (void)experiment({}, network).run(control);
    control.resume = true;
    control.on_row = nullptr;
    if (stop_after > 0) (void)experiment({}, network).run(control);
    return without_seconds(folder.read(std::string(name) + "/trace.jsonl"));
  };
  const std::string one = run("one", 1, 0);
  EXPECT_EQ(run("two", 2, 0), one);
  EXPECT_EQ(run("stopped", 1, 7), one);
}

}  // namespace
