#include "run/run_recorder.hpp"

#include <gtest/gtest.h>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

const std::string config = "[problem]\nrounds = 10\n";

struct RunRecorderTest : testing::Test {
  test::TemporaryFolder folder;
  std::int64_t state = 0;

  [[nodiscard]] RunRecorder::Options options(bool resume) const {
    return {.directory = folder.file("run"), .resume = resume, .checkpoint_every = 4, .checkpoint_seconds = 1e9};
  }
  [[nodiscard]] RunRecorder::Fields fields() {
    return [this](Archive& a, std::uint64_t& trace_bytes) {
      a("trace_bytes", trace_bytes);
      a("state", state);
    };
  }
  // A run with two lines of trace and a checkpoint after the first.
  void make_run() {
    RunRecorder run(options(false), config);
    run.append_trace("one\n");
    state = 1;
    run.save(fields());
    run.append_trace("two\n");
    run.finish("{}");
    state = 0;
  }
};

TEST_F(RunRecorderTest, ResumesWithTheStateAndTheTraceOfTheCheckpoint) {
  make_run();
  EXPECT_EQ(folder.read("run/trace.jsonl"), "one\ntwo\n");
  EXPECT_EQ(folder.read("run/summary.json"), "{}");
  RunRecorder run(options(true), config);
  bool checked = false;
  run.restore(fields(), [&] {
    checked = true;
    EXPECT_EQ(state, 1);
    EXPECT_EQ(folder.read("run/trace.jsonl"), "one\ntwo\n") << "it may still be refused";
  });
  EXPECT_TRUE(checked);
  EXPECT_EQ(folder.read("run/trace.jsonl"), "one\n");
}

TEST_F(RunRecorderTest, LeavesTheFolderAsItWasWhereTheRunIsRefused) {
  make_run();
  const std::string longer = "[problem]\nrounds = 20\n";
  RunRecorder run(options(true), longer);
  EXPECT_THROW(run.restore(fields(), [] { throw ConfigError("no"); }), ConfigError);
  EXPECT_EQ(folder.read("run/trace.jsonl"), "one\ntwo\n");
  EXPECT_EQ(folder.read("run/config.toml"), config);
}

TEST_F(RunRecorderTest, RestoresNothingInAFreshRun) {
  RunRecorder run(options(false), config);
  run.restore([](Archive&, std::uint64_t&) { FAIL(); }, [] { FAIL(); });
  EXPECT_EQ(folder.read("run/config.toml"), config);
}

TEST_F(RunRecorderTest, WritesWhatItIsAboutUnlessThatIsNothing) {
  RunRecorder run(options(false), config);
  run.append_about("");
  EXPECT_EQ(folder.read("run/about.jsonl"), "");
  run.append_about("{\"host\":1}");
  EXPECT_NE(folder.read("run/about.jsonl").find("host"), std::string::npos);
}

TEST_F(RunRecorderTest, AsksForCheckpointsByCountAndByTheClock) {
  RunRecorder by_count(options(false), config);
  EXPECT_TRUE(by_count.checkpoint_due(8));
  EXPECT_FALSE(by_count.checkpoint_due(9));
  RunRecorder::Options o = options(false);
  o.directory = folder.file("other");
  o.checkpoint_every = 0;
  o.checkpoint_seconds = -1;  // always passed
  RunRecorder by_clock(o, config);
  EXPECT_TRUE(by_clock.checkpoint_due(9));
  EXPECT_TRUE(by_clock.checkpoint_due(64, 64));
  EXPECT_FALSE(by_clock.checkpoint_due(65, 64));
}

}  // namespace
}  // namespace obolus
