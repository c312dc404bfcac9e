#include "serve/served_model.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "data/durable_file.hpp"
#include "data/rows/open_rows.hpp"
#include "fit/stream/fit_run.hpp"
#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus::serve {
namespace {

std::string row(int i, bool labelled = true) {
  const int a = i * 7 % 11 - 5, b = i * 5 % 13 - 6;
  std::string text = fmt::format(R"({{"a":{},"b":{},"kind":"{}")", a, b, i % 3 == 0 ? "x" : "z");
  if (labelled) text += fmt::format(R"(,"y":"{}")", 2 * a > b ? "p" : "n");
  return text + "}";
}

std::string rows(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += row(i) + "\n";
  return text;
}

class Served : public ::testing::Test {
 protected:
  Served() {
    // 43 rows: in the middle of a round.
    folder_.write("rows.jsonl", rows(0, 43));
    RowOptions options;
    options.label = "y";
    fit::FitRunOptions run;
    run.directory = path_;
    run.source = "data = [\"rows.jsonl\"]\nformat = \"auto\"\nlabel = \"y\"\n";
    (void)fit::run_fit(run, [&] { return open_rows(folder_.file("rows.jsonl"), options); });
  }

  [[nodiscard]] std::unique_ptr<ServedModel> serve() const {
    ServeOptions options = options_;
    options.checkpoint_every = std::chrono::hours(1);
    return std::make_unique<ServedModel>("run", path_, options);
  }
  // As if the process had been killed: a copy of the folder as it is.
  void kill_and_copy() {
    const std::string copy = folder_.file(fmt::format("copy-{}", ++copies_));
    std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
    path_ = copy;
  }
  static std::string probe(ServedModel& model) { return model.predict(row(99, false), BodyForm::json); }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("run");
  ServeOptions options_;
  int copies_ = 0;
};

TEST_F(Served, AnswersAreTheSameAfterARecoveryAtAnyPoint) {
  for (const bool saves : {false, true}) {
    SCOPED_TRACE(saves);
    const std::string before = path_;
    for (int more = 0; more < 12; ++more) {
      auto model = serve();
      (void)model->learn(rows(100 + 5 * more, 105 + 5 * more), BodyForm::lines);
      if (saves && more % 3 == 1) (void)model->checkpoint();
      const std::string told = probe(*model);
      kill_and_copy();
      ASSERT_EQ(probe(*serve()), told) << "after " << more + 1 << " requests";
    }
    path_ = before;
    std::filesystem::remove_all(path_ + "/serve");
  }
}

TEST_F(Served, RowsOfOneRequestAndOfManyGiveTheSameBits) {
  auto together = serve();
  const std::string told = together->learn(rows(100, 140), BodyForm::lines);
  const std::string after = probe(*together);
  together.reset();
  std::filesystem::remove_all(path_ + "/serve");
  auto apart = serve();
  std::string predictions;
  for (int i = 100; i < 140; ++i) {
    const std::string one = apart->learn(row(i), BodyForm::json);
    const std::size_t begin = one.find('[') + 1;
    predictions += (i > 100 ? "," : "") + one.substr(begin, one.rfind(']') - begin);
  }
  EXPECT_NE(told.find("[" + predictions + "]"), std::string::npos);
  EXPECT_EQ(probe(*apart), after);
}

TEST_F(Served, ManyTeachersAndReadersLeaveNothingOut) {
  auto model = serve();
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < 50; ++i) (void)model->learn(row(1000 * k + i), BodyForm::json);
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) (void)probe(*model);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(model->state().read()->rows, 43 + 200);
  EXPECT_EQ(model->counts().learnt, 200);
  const std::string told = probe(*model);
  kill_and_copy();
  EXPECT_EQ(probe(*serve()), told);
}

TEST_F(Served, ARequestWithABadRowLeavesNoTrace) {
  auto model = serve();
  const std::string before = probe(*model);
  EXPECT_THROW((void)model->learn(rows(100, 103) + R"({"new":1})", BodyForm::lines), Refusal);
  EXPECT_THROW((void)model->learn(rows(100, 103) + R"({"new":[{}],"y":"p"})", BodyForm::lines), Refusal);
  EXPECT_EQ(probe(*model), before);
  EXPECT_EQ(model->state().read()->fit.groups(), (std::vector<std::string>{"a", "b", "kind"}));
}

TEST_F(Served, TooManyWaitingRowsAreTurnedAway) {
  options_.max_queued_rows = 10;
  auto model = serve();
  std::atomic<int> learnt = 0, turned_away = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 20; ++i) try {
          (void)model->learn(rows(100 * k, 100 * k + 9), BodyForm::lines);
          learnt += 9;
        } catch (const Refusal& refusal) {
          EXPECT_EQ(refusal.status, 429);
          EXPECT_GT(refusal.retry_after, 0);
          ++turned_away;
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(model->state().read()->rows, 43 + learnt);
}

TEST_F(Served, ADamagedJournalIsRefused) {
  {
    auto model = serve();
    for (int i = 100; i < 110; ++i) (void)model->learn(row(i), BodyForm::json);
    kill_and_copy();
  }
  std::string journal;
  for (const auto& entry : std::filesystem::directory_iterator(path_ + "/serve"))
    if (entry.path().filename().string().starts_with("journal-")) journal = entry.path().string();
  constexpr std::uint64_t cap = 1 << 20;
  std::string bytes = read_whole_file(journal, cap);
  bytes[100] ^= 1;
  write_atomically(journal, bytes);
  EXPECT_THROW((void)serve(), DataError);
}

}  // namespace
}  // namespace obolus::serve
