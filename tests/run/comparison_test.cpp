#include "obolus/run/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using obolus::test::TemporaryFolder;
using Json = nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();

const std::string small = R"(
[compare]
seeds = [3, 8]
horizons = [10, 20, 40]
budget = 10.0
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
noise = 0.1
[metrics]
gamma = 0.05
[shared]
gamma = [0.02, 0.05]
batch = 4
[[stream]]
name = "still"
problem = { drift = "static" }
[[stream]]
name = "moving"
problem = { drift = "abrupt", period = 7 }
[[optimiser]]
label = "double loop"
name = "f2obo"
inner_steps = [1, 3]
[[optimiser]]
name = "sf2obo"
gamma = 0.03
)";

Comparison comparison(const std::string& text = small) { return Comparison(text, "test.toml", ""); }

ComparisonResult result_of(const std::string& text = small, int threads = 1) {
  ComparisonControl control;
  control.threads = threads;
  return comparison(text).run(control).value();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    (void)comparison(text);
  } catch (const ConfigError& e) {
    return e.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

Json without_seconds(Json json) {
  if (json.is_object()) json.erase("seconds");
  if (json.is_structured())
    for (auto& part : json) part = without_seconds(part);
  return json;
}
Json numbers(const ComparisonResult& r) { return without_seconds(Json::parse(r.json())); }

// ---- Grids ----------------------------------------------------------------------------------------------------------

TEST(Comparison, makes_a_setting_of_every_combination_of_the_lists) {
  EXPECT_EQ(comparison().cells(), 2u * 2 * (4 + 1));
  const ComparisonResult r = result_of();
  ASSERT_EQ(r.streams.size(), 2u);
  const OptimiserResult& o = r.streams[1].optimisers[0];
  EXPECT_EQ(o.label, "double loop");
  ASSERT_EQ(o.settings.size(), 4u);
  EXPECT_EQ(o.settings[0].text, "gamma=0.02, inner_steps=1");
  EXPECT_EQ(o.settings[1].text, "gamma=0.02, inner_steps=3");
  EXPECT_EQ(o.settings[3].text, "gamma=0.05, inner_steps=3");
  EXPECT_EQ(r.streams[1].optimisers[1].settings.at(0).text, "");  // its own gamma wins over the shared list
}

TEST(Comparison, a_list_of_schedules_is_a_grid_and_one_schedule_is_not) {
  const std::string one = replaced(small, "gamma = 0.03", "gamma = { scale = 0.03, power = -0.5 }");
  EXPECT_EQ(result_of(one).streams[0].optimisers[1].settings.size(), 1u);
  const std::string two = replaced(small, "gamma = 0.03", "gamma = [{ scale = 0.03, power = -0.5 }, 0.01]");
  EXPECT_EQ(result_of(two).streams[0].optimisers[1].settings.at(0).text, "gamma={power=-0.5,scale=0.03}");
}

TEST(Comparison, a_number_of_seeds_counts_from_one) {
  EXPECT_EQ(result_of(replaced(small, "[3, 8]", "3")).seeds, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Comparison, a_cell_is_the_run_of_its_config) {
  const ComparisonResult r = result_of();
  const Experiment alone(R"(
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
noise = 0.1
drift = "abrupt"
period = 7
rounds = 40
seed = 8
[metrics]
gamma = 0.05
[optimiser]
name = "f2obo"
gamma = 0.05
inner_steps = 1
)",
                         "alone.toml", "");
  std::vector<double> regrets;
  RunControl control;
  control.on_row = [&](const Row& row) {
    if (row.t == 10 || row.t == 20) regrets.push_back(row.regret);
    return true;
  };
  const RunSummary summary = alone.run(control);
  const CellResult& cell = r.streams[1].optimisers[0].settings[2].seeds[1];
  ASSERT_EQ(cell.horizons.size(), 3u);
  EXPECT_EQ(cell.horizons[0].regret, regrets.at(0));
  EXPECT_EQ(cell.horizons[1].regret, regrets.at(1));
  EXPECT_EQ(cell.horizons[2].regret, summary.last.regret);
  EXPECT_EQ(cell.horizons[2].counts, summary.last.counts);
  EXPECT_EQ(cell.curve.front().t, 1);
  EXPECT_EQ(cell.curve.back().t, 40);
  EXPECT_EQ(r.streams[1].variation.at(1).at(2).V.sum, summary.variation->V.sum);
  EXPECT_EQ(r.streams[1].variation.at(1).at(2).H2.sum, summary.variation->H2.sum);
}

TEST(Comparison, options_that_depend_on_the_horizon_have_a_run_for_each) {
  const std::string theory =
      replaced(replaced(small, "name = \"sf2obo\"\ngamma = 0.03",
                        "name = \"f2obo\"\npreset = \"theory\"\nL_f0 = 1.0\nM = 1.0\ngamma = 0.03"),
               "[metrics]", "[domain]\nset = \"box\"\nlower = -1.0\nupper = 1.0\n[metrics]");
  // K grows with T: the run to 10 asks less than a quarter of the run to 40.
  const auto counts = [](const ComparisonResult& r, std::size_t h) {
    return r.streams[0].optimisers[1].settings[0].seeds[0].horizons[h].counts.g_y;
  };
  const ComparisonResult all = result_of(theory), shortest = result_of(replaced(theory, "[10, 20, 40]", "[10]"));
  EXPECT_LT(4 * counts(all, 0), counts(all, 2));
  EXPECT_EQ(counts(all, 0), counts(shortest, 0));
}

// ---- Choices and exponents on made-up numbers ----------------------------------------------------------------------

// Regrets at the horizons 100 and 400, by seed, and gradients per round.
SettingResult setting(const std::string& text, const std::vector<std::pair<double, double>>& regrets,
                      std::int64_t a_round, std::int64_t products = 0) {
  SettingResult s{text, {}};
  for (const auto& [first, last] : regrets) {
    CellResult cell;
    for (const auto& [T, regret] : {std::pair{Round{100}, first}, {Round{400}, last}}) {
      Reading r;
      r.t = T;
      r.regret = regret;
      r.f = 0;
      r.counts.g_y = a_round * T;
      r.counts.hvp_yy = products * T;
      cell.horizons.push_back(r);
    }
    cell.diverged = std::isinf(last);
    s.seeds.push_back(cell);
  }
  return s;
}

TEST(Comparison, the_best_setting_has_the_least_mean_regret_at_the_largest_horizon) {
  const OptimiserResult o{"o", "o", {setting("a", {{1, 9}, {1, 1}}, 5), setting("b", {{9, 4}, {9, 4}}, 9)}};
  EXPECT_EQ(best(o), 1u);
  const Spread s = last_spread(o.settings[0], quantity::regret);
  EXPECT_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.sd, std::sqrt(32));
}

TEST(Comparison, a_setting_with_a_diverged_seed_loses) {
  const OptimiserResult o{"o", "o", {setting("a", {{1, 1}, {1, infinity}}, 5), setting("b", {{9, 900}, {9, 900}}, 9)}};
  EXPECT_EQ(best(o), 1u);
  EXPECT_FALSE(growth(o.settings[0], quantity::regret));
}

TEST(Comparison, the_budget_decides_among_the_settings_it_affords) {
  OptimiserResult o{
      "o", "o", {setting("dear", {{1, 1}}, 6, 3), setting("fair", {{1, 3}}, 6, 2), setting("cheap", {{1, 5}}, 1)}};
  const auto within = [&](double budget) { return best_within_budget(o, Costs{budget, 2.0, 0.5}); };
  EXPECT_EQ(within(12), 0u);  // 6 + 2 · 3: exactly affordable
  EXPECT_EQ(within(11), 1u);
  EXPECT_EQ(within(9), 2u);
  EXPECT_FALSE(within(0.5));
  EXPECT_EQ(min_evaluations(o, Costs{}), 1);
  EXPECT_FALSE(best_within_budget(o, Costs{}));  // without a budget there is no choice
}

TEST(Comparison, exponents_pool_horizons_and_seeds) {
  const SettingResult s = setting("", {{10, 20}, {20, 40}}, 5);
  const auto fit = growth(s, quantity::regret);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0.5, 1e-14);  // ×2 for ×4, twice
  EXPECT_EQ(fit->points, 4u);
  EXPECT_NEAR(growth(s, quantity::gradients)->exponent, 1, 1e-14);
  EXPECT_FALSE(growth(s, quantity::products));
  EXPECT_TRUE(always_zero(s, quantity::products));
  EXPECT_FALSE(growth(setting("", {{10, 20}}, 5), quantity::regret));  // two points
}

ComparisonResult made_up() {
  ComparisonResult r{{1, 2}, {100, 400}, Costs{6.0, 2.0, 0.5}, {}};
  const auto stream = [](const char* name, double a, double b) {
    return StreamResult{
        name,
        "p",
        {{"A", "a", {setting("k=1", {{1, a}, {1, a}}, 5)}}, {"B", "b", {setting("k=1, m=2", {{1, b}, {1, b}}, 9)}}},
        {}};
  };
  r.streams = {stream("one", 2, 4), stream("two", 32, 4)};
  return r;
}

TEST(Comparison, relative_regret_is_a_geometric_mean_over_streams) {
  const auto rows = made_up().relative(false);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label, "B");
  EXPECT_DOUBLE_EQ(rows[0].geometric_mean, std::sqrt(2.0));
  EXPECT_EQ(rows[1].streams, (std::vector<double>{1, 8}));
  EXPECT_DOUBLE_EQ(rows[1].geometric_mean, std::sqrt(8.0));
}

TEST(Comparison, tables_say_who_does_not_fit_the_budget) {
  const std::string text = made_up().text();
  expect_says(text,
              {"Equal rounds, T = 400: one", "Equal budget, 6 evaluations a round", "needs 9", "Queries", "Overall"});
  EXPECT_LT(text.find("A  "), text.find("B  "));  // stream one: A is better
  EXPECT_NE(made_up().csv().find("\"k=1, m=2\""), std::string::npos);
}

// ---- Threads, directories, resuming ---------------------------------------------------------------------------------

TEST(Comparison, results_do_not_depend_on_the_number_of_threads) {
  EXPECT_EQ(numbers(result_of(small, 1)), numbers(result_of(small, 4)));
}

// Stopped as soon as `after` jobs are done.
std::optional<ComparisonResult> run_part(const std::string& directory, std::size_t after, bool resume = false,
                                         const std::string& text = small) {
  ComparisonControl control;
  control.directory = directory;
  control.resume = resume;
  control.threads = 2;
  control.on_progress = [&](std::size_t done, std::size_t) { return done < after; };
  return comparison(text).run(control);
}

TEST(Comparison, resumes_to_the_same_numbers) {
  const TemporaryFolder folder;
  // Long enough that the stop comes before the end: a hundred times as long as the first jobs.
  std::string text = small;
  text.replace(text.find("[10, 20, 40]"), 12, "[1000, 2000, 4000]");
  const Json whole = numbers(result_of(text));
  ASSERT_FALSE(run_part(folder.file("r"), 3, false, text));
  EXPECT_FALSE(std::filesystem::exists(folder.file("r/summary.json")));
  // A crash in the middle of a line.
  std::string cells = folder.read("r/cells.jsonl");
  folder.write("r/cells.jsonl", cells + cells.substr(0, cells.find('\n') / 2));
  const auto resumed = run_part(folder.file("r"), 1000, true, text);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(numbers(*resumed), whole);
  EXPECT_EQ(without_seconds(Json::parse(folder.read("r/summary.json"))), whole);
  const std::string after = folder.read("r/cells.jsonl");
  EXPECT_EQ(after.substr(0, cells.size()), cells);  // what was done was not done again
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 20 + 4);
}

TEST(Comparison, resumes_from_the_directorys_own_config) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_part(folder.file("r"), 1000));
  ComparisonControl control;
  control.directory = folder.file("r");
  control.resume = true;
  const std::string before = folder.read("r/summary.json");
  ASSERT_TRUE(Comparison::load(folder.file("r/config.toml")).run(control));
  EXPECT_EQ(folder.read("r/summary.json"), before);  // even the seconds: nothing was run
}

std::string resume_refusal(const TemporaryFolder& folder, const std::string& text) {
  try {
    (void)run_part(folder.file("r"), 1000, true, text);
  } catch (const ConfigError& e) {
    return e.what();
  }
  ADD_FAILURE() << "resumed";
  return {};
}

TEST(Comparison, refuses_to_resume_with_another_config) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_part(folder.file("r"), 1000));
  const std::string config = folder.read("r/config.toml");
  expect_says(resume_refusal(folder, replaced(small, "period = 7", "period = 8")), {"cannot resume", "moving"});
  expect_says(resume_refusal(folder, replaced(small, "[1, 3]", "[1, 4]")), {"cannot resume", "inner_steps=3"});
  expect_says(resume_refusal(folder, replaced(small, "20, 40", "30, 40")), {"horizons", "10, 20, 40", "10, 30, 40"});
  expect_says(resume_refusal(folder, replaced(small, "batch = 4", "batch = 5")), {"sf2obo"});
  EXPECT_EQ(folder.read("r/config.toml"), config);
  EXPECT_TRUE(run_part(folder.file("r"), 1000, true, replaced(small, "budget = 10.0", "budget = 5.0")));
  EXPECT_TRUE(run_part(folder.file("r"), 1000, true, replaced(small, "[3, 8]", "[3, 8, 9]")));
}

TEST(Comparison, a_damaged_line_is_named) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_part(folder.file("r"), 1000));
  folder.write("r/cells.jsonl", "{}\n" + folder.read("r/cells.jsonl"));
  try {
    (void)run_part(folder.file("r"), 1000, true);
    ADD_FAILURE() << "resumed";
  } catch (const DataError& e) {
    expect_says(e.what(), {"cells.jsonl:1"});
  }
}

TEST(Comparison, does_not_overwrite_a_run) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_part(folder.file("r"), 1000));
  EXPECT_THROW((void)run_part(folder.file("r"), 1000), ConfigError);
}

TEST(Comparison, relative_paths_are_absolute_in_the_directorys_config) {
  const TemporaryFolder folder;
  folder.write("é.json", R"({"dims": {"x": 1, "y": 1}, "rounds": [{"A": [[1]], "B": [[1]], "b": [0], "w": 1, "c": [1],
                             "s": 0, "r": 0.1, "e": [0]}]})");
  folder.write("c.toml", R"([compare]
horizons = [5]
[problem]
name = "quadratic_file"
[metrics]
gamma = 0.1
[[stream]]
name = "é"
problem = { path = "é.json" } # kept
[[optimiser]]
name = "f2obo"
)");
  ComparisonControl control;
  control.directory = folder.file("r");
  ASSERT_TRUE(Comparison::load(folder.file("c.toml")).run(control));
  expect_says(folder.read("r/config.toml"), {"problem = { path = \"" + folder.file("é.json") + "\" } # kept"});
  control.resume = true;
  EXPECT_TRUE(Comparison::load(folder.file("r/config.toml")).run(control));
}

// Three rounds of softmax_l2 on a file of rows.
std::string on_rows(const std::string& rest) {
  return R"([compare]
horizons = [3]
[problem]
name = "softmax_l2"
data = "rows"
rows = "rows.csv"
batch = 4
)" + rest;
}

TEST(Comparison, a_config_that_names_rows_by_a_relative_path_works_from_anywhere) {
  const TemporaryFolder folder;
  std::string rows = "label,size\n";
  for (int i = 0; i < 40; ++i) rows += (i % 2 == 0 ? "a," : "b,") + std::to_string(i) + "\n";
  folder.write("rows.csv", rows);
  const std::string text = on_rows(R"([metrics]
regret = false
variation = false
[[optimiser]]
name = "f2obo"
gamma = 0.05
)");
  const Comparison here(text, "here.toml", folder.path());
  expect_says(here.config(), {"rows = \"" + folder.file("rows.csv") + "\""});
  const Comparison there(here.config(), "there.toml", "/nowhere");
  const auto first = here.run({}), second = there.run({});
  ASSERT_TRUE(first && second);
  const auto f = [](const ComparisonResult& r) {
    return r.streams[0].optimisers[0].settings[0].seeds[0].horizons[0].f;
  };
  EXPECT_EQ(f(*first), f(*second));
}

// At x = 0 nothing bounds the weights of words that only f's rows have. The run goes on, but its regret lacks rounds.
TEST(Comparison, a_regret_that_lacks_rounds_is_not_ranked_before_complete_ones) {
  const TemporaryFolder folder;
  std::string rows = "label,word\n";
  for (int i = 0; i < 40; ++i) rows += (i % 2 == 0 ? "a,w" : "b,w") + std::to_string(i) + "\n";
  folder.write("rows.csv", rows);
  const std::string text = on_rows(R"([metrics]
gamma = 0.05
variation = false
[[optimiser]]
label = "no penalty"
name = "fixed"
start = { x = 0.0 }
[[optimiser]]
label = "penalty"
name = "fixed"
start = { x = 0.1 }
)");
  const auto r = Comparison(text, "test.toml", folder.path()).run({}).value();
  const auto& optimisers = r.streams[0].optimisers;
  EXPECT_FALSE(optimisers[0].settings[0].seeds[0].diverged);
  EXPECT_EQ(last_spread(optimisers[0].settings[0], quantity::regret).mean, infinity);
  EXPECT_TRUE(std::isfinite(last_spread(optimisers[1].settings[0], quantity::regret).mean));
}

TEST(Comparison, a_diverged_run_is_a_result) {
  const auto r = result_of(replaced(small, "inner_steps = [1, 3]", "inner_steps = 30\nalpha = 50.0"));
  const SettingResult& s = r.streams[0].optimisers[0].settings[0];
  EXPECT_EQ(s.diverged(), 2u);
  EXPECT_EQ(last_spread(s, quantity::regret).mean, infinity);
  expect_says(r.text(), {"diverged (2 of 2)"});
  expect_says(numbers(r).dump(), {"\"diverged\":2"});
}

// ---- Evaluations, and comparisons without a regret -----------------------------------------------------------------

const std::string measured = replaced(replaced(small, "noise = 0.1", "noise = 0.1\nevaluate = true"),
                                      "[metrics]\ngamma = 0.05", "[metrics]\nregret = false\nevery = 7");
const std::string ranked_by_distance =
    replaced(measured, "budget = 10.0", "budget = 10.0\nrank_by = \"inner_distance\"\nrank = \"least\"");

TEST(Comparison, evaluations_stand_beside_the_regret) {
  const ComparisonResult r = result_of(replaced(small, "noise = 0.1", "noise = 0.1\nevaluate = true"));
  const std::vector<std::string> names{"outer_value", "inner_distance", "prequential_loss"};
  EXPECT_EQ(r.measures(), names);
  const CellResult& cell = r.streams[0].optimisers[0].settings[0].seeds[0];
  for (const Reading& reading : cell.horizons) EXPECT_EQ(reading.evaluation.size(), 3u) << reading.t;
  expect_says(r.text(), {"Measures at T = 40: still", "prequential_loss", "Overall: regret"});
  const Json at = numbers(r)["streams"][0]["optimisers"][0]["settings"][0]["horizons"][2];
  EXPECT_EQ(at["evaluation"]["inner_distance"]["seeds"][0], cell.horizons[2].evaluation.find("inner_distance"));
  EXPECT_EQ(at["regret"]["seeds"][0], cell.horizons[2].regret);
}

// A stream may have a window of its own; one without is not measured, and says so.
TEST(Comparison, window_averaged_regrets_stand_beside_the_regret) {
  const ComparisonResult r =
      result_of(replaced(small, "{ drift = \"static\" }", "{ drift = \"static\" }\nmetrics = { window = 4 }"));
  EXPECT_TRUE(r.has_window());
  const auto json = nlohmann::json::parse(r.json());
  const CellResult& cell = r.streams[0].optimisers[0].settings[0].seeds[0];
  const auto& shown = json["streams"][0]["optimisers"][0]["settings"][0]["horizons"][2];
  EXPECT_GT(cell.horizons[2].window_regret, 0.0);
  EXPECT_EQ(shown["window_regret"]["seeds"][0], cell.horizons[2].window_regret);
  EXPECT_EQ(shown["trailing_regret"]["seeds"][0], cell.horizons[2].trailing_regret);
  EXPECT_TRUE(std::isnan(r.streams[1].optimisers[0].settings[0].seeds[0].horizons[2].window_regret));
  expect_says(r.text(), {"Window-averaged regret, T = 40", "not measured"});
  expect_says(r.csv(), {",window_regret_mean,window_regret_sd,trailing_regret_mean,trailing_regret_sd"});
  const ComparisonResult plain = result_of();
  EXPECT_FALSE(plain.has_window());
  EXPECT_EQ(plain.csv().find("window"), std::string::npos);
  EXPECT_EQ(plain.streams[0].optimisers[0].settings[0].seeds[0].horizons[2].regret, cell.horizons[2].regret);
}

TEST(Comparison, a_comparison_without_a_regret_shows_none) {
  const ComparisonResult r = result_of(ranked_by_distance);
  EXPECT_FALSE(r.has_regret);
  for (const std::string& shown : {r.text(), r.csv(), r.json()})
    EXPECT_EQ(shown.find("regret"), std::string::npos) << shown;
  expect_says(r.text(), {"Measures at T = 40: moving", "Settings are chosen", "least inner_distance", "Queries"});
  expect_says(r.csv(), {",inner_distance_mean,inner_distance_sd,"});
  const Json json = numbers(r);
  EXPECT_EQ(json["rank_by"], "inner_distance");
  EXPECT_FALSE(json["streams"][0]["optimisers"][0]["settings"][0]["growth"].contains("regret"));
}

TEST(Comparison, settings_are_chosen_by_what_the_config_says) {
  const auto means = [](const ComparisonResult& r) {
    std::vector<double> all;
    for (const SettingResult& s : r.streams[0].optimisers[0].settings)
      all.push_back(last_spread(s, quantity::measure("inner_distance")).mean);
    return all;
  };
  const ComparisonResult min = result_of(ranked_by_distance);
  const ComparisonResult max = result_of(replaced(ranked_by_distance, "\"least\"", "\"most\""));
  const std::vector<double> all = means(min);
  EXPECT_EQ(all, means(max));
  const auto index = [&](auto found) { return to_size(found - all.begin()); };
  EXPECT_EQ(best(min.streams[0].optimisers[0], min.ranking), index(std::min_element(all.begin(), all.end())));
  EXPECT_EQ(best(max.streams[0].optimisers[0], max.ranking), index(std::max_element(all.begin(), all.end())));
  EXPECT_EQ(numbers(max)["streams"][0]["optimisers"][0]["best"]["index"],
            index(std::max_element(all.begin(), all.end())));
}

TEST(Comparison, a_diverged_run_loses_under_any_ranking) {
  SettingResult bad = setting("a", {{1, infinity}}, 5), good = setting("b", {{1, 1}}, 5);
  bad.seeds[0].horizons[0].evaluation.add("accuracy", 0.9);
  for (Reading& r : good.seeds[0].horizons) r.evaluation.add("accuracy", 0.1);
  const OptimiserResult o{"o", "o", {bad, good}};
  EXPECT_EQ(best(o, {"accuracy", Rank::max}), 1u);
  EXPECT_EQ(best(o, {"accuracy", Rank::min}), 1u);
}

TEST(Comparison, every_horizon_is_evaluated_and_every_evaluation_kept) {
  const ComparisonResult r = result_of(replaced(ranked_by_distance, "every = 7", "every = 7\nevaluate_every = 15"));
  const CellResult& cell = r.streams[1].optimisers[1].settings[0].seeds[1];
  std::vector<Round> rounds;
  for (const Reading& reading : cell.evaluations) rounds.push_back(reading.t);
  EXPECT_EQ(rounds, (std::vector<Round>{10, 15, 20, 30, 40}));
  for (const Reading& reading : cell.horizons) EXPECT_TRUE(std::isfinite(reading.f)) << reading.t;
}

TEST(Comparison, evaluations_survive_a_resume_to_the_last_bit) {
  const TemporaryFolder folder;
  std::string text = ranked_by_distance;
  text.replace(text.find("[10, 20, 40]"), 12, "[1000, 2000, 4000]");
  const Json whole = numbers(result_of(text));
  ASSERT_FALSE(run_part(folder.file("r"), 3, false, text));
  const auto resumed = run_part(folder.file("r"), 1000, true, text);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(numbers(*resumed), whole);
  EXPECT_EQ(without_seconds(Json::parse(folder.read("r/summary.json"))), whole);
  const std::string cells = folder.read("r/cells.jsonl");
  EXPECT_EQ(cells.find("regret"), std::string::npos);
  expect_says(cells, {"\"evaluations\":{\"t\":[1000,2000,4000]", "\"prequential_loss\""});
  // How settings are chosen may change, like costs and budgets.
  EXPECT_TRUE(run_part(folder.file("r"), 1000, true, replaced(text, "\"least\"", "\"most\"")));
}

TEST(Comparison, an_optimiser_may_have_a_start_of_its_own) {
  const std::string controls = replaced(measured, "[[optimiser]]\nname = \"sf2obo\"\ngamma = 0.03\n",
                                        "[[optimiser]]\nlabel = \"x = 0\"\nname = \"fixed\"\n"
                                        "[[optimiser]]\nlabel = \"x = 1\"\nname = \"fixed\"\nstart = { x = 1.0 }\n");
  const std::string text = replaced(controls, "gamma = [0.02, 0.05]\n", "");
  const ComparisonResult r = result_of(replaced(text, "inner_steps = [1, 3]", "inner_steps = 3"));
  const auto f = [](const OptimiserResult& o) { return o.settings[0].seeds[0].horizons[2].f; };
  const auto& still = r.streams[0].optimisers;
  ASSERT_EQ(still.size(), 3u);
  EXPECT_NE(f(still[1]), f(still[2]));
  const Experiment alone(R"(
[problem]
name = "quadratic"
dim_x = 2
dim_y = 3
noise = 0.1
drift = "static"
rounds = 40
seed = 3
[start]
x = 1.0
[metrics]
gamma = 0.05
[optimiser]
name = "fixed"
batch = 4
)",
                         "alone.toml", "");
  EXPECT_EQ(f(still[2]), alone.run({}).last.f);
}

TEST(Comparison, says_what_can_be_ranked) {
  const std::vector<std::string> known{"outer_value, inner_distance, prequential_loss"};
  expect_says(refusal(measured), {"rank_by", "double loop", "4 settings", known[0]});
  expect_says(refusal(replaced(ranked_by_distance, "\"inner_distance\"", "\"distance\"")),
              {"test.toml:6:", "rank_by", "distance", known[0]});
  expect_says(refusal(replaced(ranked_by_distance, "rank = \"least\"\n", "")), {"rank", "least", "most"});
  expect_says(refusal(replaced(ranked_by_distance, "rank_by = \"inner_distance\"\n", "")), {"rank_by"});
  expect_says(refusal(replaced(ranked_by_distance, "\"least\"", "\"lest\"")), {"test.toml:7:", "least"});
  expect_says(refusal(replaced(ranked_by_distance, "evaluate = true", "evaluate = false")),
              {"rank_by", "quadratic evaluates nothing"});
  expect_says(refusal(replaced(ranked_by_distance, "{ drift = \"static\" }",
                               "{ drift = \"static\" }\nmetrics = { regret = true, every = 1, gamma = 0.1 }")),
              {"metrics.regret", "all streams"});
  expect_says(refusal(replaced(small, "label = \"double loop\"", "start = 0.5")), {"test.toml:23", "start"});
  expect_says(refusal(replaced(small, "label = \"double loop\"", "start = { z = 0.5 }")), {"test.toml:23", "'z'"});
}

// ---- What is refused ------------------------------------------------------------------------------------------------

TEST(Comparison, says_where_a_config_is_wrong) {
  expect_says(refusal(replaced(small, "budget", "buget")), {"test.toml:5", "buget", "budget"});
  expect_says(refusal(replaced(small, "period = 7 }", "perod = 7 }")), {"test.toml:21", "perod", "period", "moving"});
  expect_says(refusal(replaced(small, "name = \"still\"", "name = \"still\"\nproblm = {}")),
              {"test.toml:18", "problem"});
  expect_says(refusal(replaced(small, "batch = 4", "bach = 4")), {"test.toml:15", "bach", "batch"});
  expect_says(refusal(replaced(small, "inner_steps = [1, 3]", "inner_steps = [1, 0]")),
              {"test.toml:25", "inner_steps=0"});
  expect_says(refusal(replaced(small, "\"f2obo\"", "\"f2oob\"")), {"test.toml:24", "f2obo"});
  expect_says(refusal(replaced(small, "gamma = 0.05\n", "")), {"metrics", "gamma"});
  expect_says(refusal(replaced(small, "[compare]", "[comparison]")), {"comparison", "compare"});
}

TEST(Comparison, refuses_seeds_horizons_and_labels_that_repeat) {
  expect_says(refusal(replaced(small, "[3, 8]", "[3, 3]")), {"seeds", "different"});
  expect_says(refusal(replaced(small, "[3, 8]", "0")), {"seeds"});
  expect_says(refusal(replaced(small, "[3, 8]", "2.5")), {"seeds"});
  expect_says(refusal(replaced(small, "20, 40", "40, 20")), {"horizons", "increasing"});
  expect_says(refusal(replaced(small, "double loop", "sf2obo")), {"sf2obo", "twice", "label"});
  expect_says(refusal(replaced(small, "\"moving\"", "\"still\"")), {"still", "twice"});
  expect_says(refusal(replaced(small, "[0.02, 0.05]", "[0.02, 0.02]")), {"0.02", "twice"});
  expect_says(refusal(replaced(small, "[0.02, 0.05]", "[]")), {"empty"});
}

TEST(Comparison, refuses_more_runs_than_anybody_waits_for) {
  expect_says(refusal(replaced(small, "[3, 8]", "50000")), {"runs", "100000"});
}

}  // namespace
