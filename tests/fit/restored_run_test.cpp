// A run that is taken up from its folder: it goes on to the bits of the run on all rows.
#include "fit/stream/restored_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "fit/model/model_file.hpp"
#include "fit/stream/fit_run.hpp"
#include "obolus/core/error.hpp"
#include "tests/fit/fit_stream.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

using fit::EvaluationOptions;
using fit::FitEvaluation;
using fit::FitRunOptions;
using fit::restore_run;
using fit::RestoredRun;
using test::fit_options;
using test::FitStream;
using test::saved;

static_assert(std::is_copy_constructible_v<FitEvaluation>);

class Rows : public RowReader {
 public:
  explicit Rows(std::vector<DataRow> rows) : rows_(std::move(rows)) {}
  bool next(DataRow& row) override {
    if (at_ == rows_.size()) return false;
    row = rows_[at_++];
    return true;
  }
  [[nodiscard]] std::string place() const override { return "rows:" + std::to_string(at_); }
  [[nodiscard]] const std::vector<std::string>& groups() const override { return groups_; }
  [[nodiscard]] std::string describe() const override { return "rows"; }
  [[nodiscard]] std::string label() const override { return "kind"; }
  [[nodiscard]] std::uint64_t skipped() const override { return 0; }
  [[nodiscard]] const std::string& first_skipped() const override { return none_; }

 private:
  std::vector<DataRow> rows_;
  std::size_t at_ = 0;
  std::vector<std::string> groups_ = FitStream::groups();
  std::string none_;
};

struct Case {
  const char* name;
  FitOptions options;
  EvaluationOptions evaluation = {};
};

std::vector<Case> cases() {
  std::vector<Case> all(5);
  for (Case& c : all) c.options = fit_options();
  all[0].name = "classes";
  all[1].name = "numbers, whose task is guessed";
  all[2].name = "delay, an L2 a group, learnt by shadows as well";
  all[2].options.delay = 5;
  all[2].options.tune = "rate,l2-per-group,replay,temperature";
  all[2].evaluation = {.window = 20, .detectors = "none", .shadow = true};
  all[3].name = "numbers, delayed, with a fixed rate";
  all[3].options.delay = 3;
  all[3].options.learning_rate = 0.25;
  all[3].options.tune = "l2";
  all[4].name = "hashed, held out, the classes given";
  all[4].options.hash_bits = 4;
  all[4].options.hold_out = 3;
  all[4].options.classes = "c,b,a";
  for (const int i : {1, 3}) all[i].options.task = FitTask::numbers;
  return all;
}

std::vector<DataRow> rows_of(const Case& c, int count) {
  FitStream stream(7, c.options.task);
  std::vector<DataRow> rows;
  for (int t = 0; t < count; ++t) rows.push_back(stream.next());
  return rows;
}

constexpr const char* source =
    "data = [\"rows.csv\"]\nformat = \"csv\"\nindex_base = \"auto\"\ndelimiter = \";\"\nlabel = \"-1\"\n"
    "weight = \"w\"\nignore = [\"a\", \"b, c\"]\nnumeric = []\ncategorical = [\"word\"]\nmissing = [\"\", \"none\"]\n"
    "skip_bad = 3\n";

void run(const Case& c, const std::vector<DataRow>& rows, const std::string& folder) {
  FitRunOptions o;
  o.fit = c.options;
  if (c.options.classes.empty() && !c.options.learning_rate) o.fit.task = FitTask::automatic;
  o.evaluation = c.evaluation;
  o.source = source;
  o.directory = folder;
  o.threads = 1;
  (void)fit::run_fit(o, [&] { return std::make_unique<Rows>(rows); });
}

std::vector<std::byte> saved_evaluation(FitEvaluation& evaluation) {
  Archive a;
  evaluation.fields(a);
  return a.bytes();
}

TEST(RestoredRun, GoesOnToTheBitsOfARunOnAllRows) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const test::TemporaryFolder folder;
    const std::vector<DataRow> rows = rows_of(c, 150);
    const std::vector<DataRow> first(rows.begin(), rows.begin() + 75);
    run(c, first, folder.file("first"));
    run(c, rows, folder.file("whole"));
    RestoredRun restored = restore_run(folder.file("first")), whole = restore_run(folder.file("whole"));
    EXPECT_EQ(restored.rows, 75);
    EXPECT_EQ(restored.fit.options().task, c.options.task);
    EXPECT_EQ(restored.fit.label_name(), "kind");
    EXPECT_EQ(restored.evaluation_options.window, c.evaluation.window);
    restored.fit.set_groups(FitStream::groups(), true);
    for (std::size_t t = 75; t < rows.size(); ++t) {
      const Prediction& p = restored.fit.learn(rows[t]);
      restored.evaluation.add(p, rows[t].weight);
    }
    whole.fit.set_groups(FitStream::groups(), true);
    EXPECT_TRUE(fit::model_bytes(restored.fit) == fit::model_bytes(whole.fit));
    EXPECT_TRUE(saved(restored.fit) == saved(whole.fit));
    EXPECT_TRUE(saved_evaluation(restored.evaluation) == saved_evaluation(whole.evaluation));
    // And what the run itself came to in the end.
    restored.fit.finish();
    fit::save_model(folder.file("model"), restored.fit);
    const auto content = [](const std::string& path) {
      std::ifstream file(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_TRUE(content(folder.file("model")) == content(folder.file("whole/model")));
  }
}

TEST(RestoredRun, KnowsHowTheRowsWereRead) {
  const test::TemporaryFolder folder;
  const Case c = cases()[0];
  run(c, rows_of(c, 20), folder.file("run"));
  const RowOptions o = restore_run(folder.file("run")).row_options;
  EXPECT_EQ(o.format, "csv");
  EXPECT_EQ(o.index_base, IndexBase::automatic);
  EXPECT_EQ(o.delimiter, ';');
  EXPECT_EQ(o.label, "-1");
  EXPECT_EQ(o.weight, "w");
  EXPECT_EQ(o.ignore, (std::vector<std::string>{"a", "b, c"}));
  EXPECT_TRUE(o.numeric.empty());
  EXPECT_EQ(o.categorical, (std::vector<std::string>{"word"}));
  EXPECT_EQ(o.missing, (std::vector<std::string>{"", "none"}));
  EXPECT_EQ(o.skip_bad, 3u);
}

std::string refusal(const std::string& folder) {
  try {
    (void)restore_run(folder);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(RestoredRun, IsRefusedWhereThereIsNone) {
  const test::TemporaryFolder folder;
  EXPECT_NE(refusal(folder.file("nowhere")).find("got no config.toml"), std::string::npos);
  const Case c = cases()[0];
  const std::string run_folder = folder.file("run");
  const auto made = [&] {
    std::filesystem::remove_all(run_folder);
    run(c, rows_of(c, 20), run_folder);
  };
  const auto expect_refusal = [&](const char* part) {
    EXPECT_NE(refusal(run_folder).find(part), std::string::npos) << refusal(run_folder);
  };
  made();
  EXPECT_EQ(refusal(run_folder), "accepted");
  write(run_folder + "/summary.json", "{\"status\": \"diverged\"}");
  expect_refusal("got a run that diverged");
  write(run_folder + "/cells.jsonl", "");
  expect_refusal("got a comparison");
  made();
  std::filesystem::remove(run_folder + "/checkpoint");
  expect_refusal("got no checkpoint");
  made();
  write(run_folder + "/checkpoint", "text");
  expect_refusal("is not an Obolus checkpoint");
  write(run_folder + "/config.toml", "[problem]\nname = \"quadratic\"\n[optimiser]\nname = \"f2obo\"\n");
  expect_refusal("got a run of `obolus run`");
  for (const char* key : {"validation", "follow"}) {
    write(run_folder + "/config.toml", fmt::format("[problem]\nname = \"rows\"\n{} = \"x\"\n[fit]\n", key));
    expect_refusal(key);
  }
}

}  // namespace
}  // namespace obolus
