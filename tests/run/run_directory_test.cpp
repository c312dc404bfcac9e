#include "run/run_directory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using obolus::test::TemporaryFolder;
using Mode = RunDirectory::Mode;
namespace fs = std::filesystem;

const std::string config = "[problem]\nrounds = 10  # T\nseed = 1\n\n[log]\nevery = 1\n";

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

// The message of the error that `action` throws.
template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

class RunDirectoryTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder.file("run");

  [[nodiscard]] RunDirectory open(Mode mode, const std::string& text = config) const { return {path, mode, text}; }
  [[nodiscard]] std::string in(const std::string& name) const { return folder.read("run/" + name); }
  void put(const std::string& name, const std::string& content) const { folder.write("run/" + name, content); }

  // A run with two lines of trace and a checkpoint after the first.
  void make_run() const {
    RunDirectory run = open(Mode::fresh);
    run.append_trace("one\n");
    run.save_checkpoint(bytes_of("state after one"));
    run.append_trace("two\n");
  }
  [[nodiscard]] std::string load_error() const {
    return message_of<DataError>([&] { (void)open(Mode::resume).load_checkpoint(); });
  }
};

// ---- Whole files ---------------------------------------------------------------------------------------------------

TEST_F(RunDirectoryTest, AWholeFileIsReplacedAndLeavesNoTemporaryBehind) {
  folder.write("file", "old");
  write_atomically(folder.file("file"), "new");
  EXPECT_EQ(folder.read("file"), "new");
  EXPECT_FALSE(fs::exists(folder.file("file.tmp")));
}

TEST_F(RunDirectoryTest, AStaleTemporaryFileOfADeadProcessDoesNotMatter) {
  make_run();
  for (const char* name : {"checkpoint.tmp", "config.toml.tmp", "summary.json.tmp"}) put(name, "half a file");
  RunDirectory run = open(Mode::resume);
  EXPECT_EQ(run.load_checkpoint(), bytes_of("state after one"));
  run.save_checkpoint(bytes_of("later"));
  run.write_summary("{}");
  EXPECT_EQ(run.load_checkpoint(), bytes_of("later"));
  EXPECT_EQ(in("summary.json"), "{}");
  for (const char* name : {"checkpoint.tmp", "config.toml.tmp", "summary.json.tmp"})
    EXPECT_FALSE(fs::exists(path + "/" + name)) << name;
}

// A writer that dies before the rename leaves the old file unchanged: here it cannot even begin.
TEST_F(RunDirectoryTest, AWriteThatFailsLeavesTheOldFile) {
  folder.write("file", "old");
  fs::create_directory(folder.file("file.tmp"));  // in the way of the temporary
  EXPECT_TRUE(says(message_of<DataError>([&] { write_atomically(folder.file("file"), "new"); }), "file.tmp"));
  EXPECT_EQ(folder.read("file"), "old");
}

TEST_F(RunDirectoryTest, ReadingNamesTheFileThatIsMissingAFolderOrTooLarge) {
  EXPECT_TRUE(says(message_of<DataError>([&] { (void)read_whole_file(folder.file("none"), 10); }), "none"));
  EXPECT_TRUE(says(message_of<DataError>([&] { (void)read_whole_file(folder.path(), 10); }), "folder"));
  folder.write("large", std::string(11, 'x'));
  EXPECT_TRUE(says(message_of<DataError>([&] { (void)read_whole_file(folder.file("large"), 10); }), "10 bytes"));
  EXPECT_EQ(read_whole_file(folder.file("large"), 11).size(), 11u);
}

// ---- Opening -------------------------------------------------------------------------------------------------------

TEST_F(RunDirectoryTest, AFreshRunMakesItsFolderAndEchoesItsConfig) {
  path = folder.file("deep/down/run");
  const RunDirectory run = open(Mode::fresh);
  EXPECT_EQ(folder.read("deep/down/run/config.toml"), config);
  EXPECT_FALSE(run.load_checkpoint().has_value());
  EXPECT_EQ(run.trace_bytes(), 0u);
}

TEST_F(RunDirectoryTest, AFreshRunRefusesAFolderThatHoldsOneAndTouchesNothing) {
  make_run();
  const std::string before = in("checkpoint");
  EXPECT_TRUE(says(message_of<ConfigError>([&] { (void)open(Mode::fresh, "other"); }), "--resume"));
  EXPECT_EQ(in("checkpoint"), before);
  EXPECT_EQ(in("trace.jsonl"), "one\ntwo\n");
  EXPECT_EQ(in("config.toml"), config);
}

TEST_F(RunDirectoryTest, ReplacingRemovesEveryTraceOfTheOldRun) {
  make_run();
  put("summary.json", "{}");
  const RunDirectory run = open(Mode::replace, "other");
  EXPECT_FALSE(run.load_checkpoint().has_value());
  EXPECT_FALSE(fs::exists(path + "/summary.json"));
  EXPECT_EQ(in("trace.jsonl"), "");
  EXPECT_EQ(in("config.toml"), "other");
}

TEST_F(RunDirectoryTest, OneRunAtATimeMayHaveAFolder) {
  const RunDirectory first = open(Mode::fresh);
  for (int i = 0; i < 2; ++i)  // a refusal does not release the lock
    EXPECT_TRUE(says(message_of<ConfigError>([&] { (void)open(Mode::resume); }), "running in this folder"));
}

TEST_F(RunDirectoryTest, ARefusedFolderIsFreeAgain) {
  make_run();
  EXPECT_THROW((void)open(Mode::fresh), ConfigError);
  EXPECT_THROW((void)open(Mode::resume, "other"), ConfigError);
  EXPECT_NO_THROW((void)open(Mode::resume));
}

TEST_F(RunDirectoryTest, ResumingAllowsAnotherNumberOfRoundsAndOtherLoggingOnly) {
  make_run();
  (void)open(Mode::resume, "[problem]\nrounds = 99  # T\nseed = 1\n\n[log]\nevery = 7\n");
  const std::string message = message_of<ConfigError>(
      [&] { (void)open(Mode::resume, "[problem]\nrounds = 10\nseed = 2\n[log]\nevery = 1\n"); });
  EXPECT_TRUE(says(message, "seed = 1") && says(message, "seed = 2")) << message;
  EXPECT_TRUE(
      says(message_of<ConfigError>([&] { (void)open(Mode::resume, config + "[domain]\nset = \"box\"\n"); }), "domain"));
}

// ---- The trace -----------------------------------------------------------------------------------------------------

TEST_F(RunDirectoryTest, TheTraceIsCutBackToTheCheckpointAndGrowsFromThere) {
  make_run();
  RunDirectory run = open(Mode::resume);
  EXPECT_EQ(run.trace_bytes(), 8u);
  run.truncate_trace(4);
  run.append_trace("three\n");
  run.sync_trace();
  EXPECT_EQ(in("trace.jsonl"), "one\nthree\n");
  EXPECT_EQ(run.trace_bytes(), 10u);
}

TEST_F(RunDirectoryTest, ATraceShorterThanItsCheckpointIsAnErrorThatNamesBothSizes) {
  make_run();
  put("trace.jsonl", "on");
  RunDirectory run = open(Mode::resume);
  const std::string message = message_of<DataError>([&] { run.truncate_trace(4); });
  EXPECT_TRUE(says(message, "trace.jsonl") && says(message, "2 bytes") && says(message, "4")) << message;
}

TEST_F(RunDirectoryTest, TheTraceIsOnDiskBeforeTheCheckpointThatCountsOnIt) {
  RunDirectory run = open(Mode::fresh);
  run.append_trace("one\n");
  EXPECT_EQ(in("trace.jsonl"), "") << "nothing was asked to be written yet";
  run.save_checkpoint(bytes_of("state"));
  EXPECT_EQ(in("trace.jsonl"), "one\n");
}

TEST_F(RunDirectoryTest, ALongTraceIsWrittenWhole) {
  std::string expected;
  {
    RunDirectory run = open(Mode::fresh);
    for (int i = 0; i < 20'000; ++i) {
      const std::string line = std::to_string(i) + " of a long trace\n";
      run.append_trace(line);
      expected += line;
    }
  }
  EXPECT_EQ(in("trace.jsonl"), expected);
}

// ---- The checkpoint ------------------------------------------------------------------------------------------------

TEST_F(RunDirectoryTest, ACheckpointComesBackAsItWasAlsoAnEmptyOne) {
  RunDirectory run = open(Mode::fresh);
  for (const std::string& state : {std::string("abc"), std::string(), std::string(100'000, '\xff')}) {
    run.save_checkpoint(bytes_of(state));
    EXPECT_EQ(run.load_checkpoint(), bytes_of(state));
  }
}

TEST_F(RunDirectoryTest, ADamagedCheckpointSaysSo) {
  make_run();
  std::string content = in("checkpoint");
  content.back() = static_cast<char>(content.back() ^ 1);
  put("checkpoint", content);
  const std::string message = load_error();
  EXPECT_TRUE(says(message, path + "/checkpoint") && says(message, "damaged")) << message;
}

TEST_F(RunDirectoryTest, ACheckpointOfAnotherVersionNamesBothVersions) {
  make_run();
  std::string content = in("checkpoint");
  content[8] = 7;  // the version follows the eight letters
  put("checkpoint", content);
  const std::string message = load_error();
  EXPECT_TRUE(says(message, "version 7") && says(message, "version 4")) << message;
}

TEST_F(RunDirectoryTest, AnotherFileInItsPlaceIsNoCheckpoint) {
  make_run();
  for (const std::string& other : {std::string(), std::string("OBOLUS"), std::string(200, 'x')}) {
    put("checkpoint", other);
    EXPECT_TRUE(says(load_error(), "not an Obolus checkpoint"));
  }
}

TEST_F(RunDirectoryTest, ACheckpointCutShortOrGrownIsRefusedAtEveryLength) {
  make_run();
  const std::string whole = in("checkpoint");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put("checkpoint", whole.substr(0, size));
    EXPECT_TRUE(says(load_error(), "checkpoint")) << size;
  }
  put("checkpoint", whole + "x");
  EXPECT_TRUE(says(load_error(), "damaged"));
}

TEST_F(RunDirectoryTest, ChangedBytesNeverLoad) {
  make_run();
  const std::string whole = in("checkpoint");
  const RunDirectory run = open(Mode::resume);
  EXPECT_TRUE(rc::check("changed bytes", [&] {
    std::string content = whole;
    const auto changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, content.size());
      content[at] = static_cast<char>(content[at] ^ *rc::gen::inRange(1, 256));
    }
    RC_PRE(content != whole);
    put("checkpoint", content);
    RC_ASSERT_THROWS_AS((void)run.load_checkpoint(), DataError);
  }));
}

TEST_F(RunDirectoryTest, EverySingleChangedBitIsNoticed) {
  make_run();
  const std::string whole = in("checkpoint");
  const RunDirectory run = open(Mode::resume);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string content = whole;
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << (bit % 8)));
    put("checkpoint", content);
    EXPECT_THROW((void)run.load_checkpoint(), DataError) << "bit " << bit;
  }
}

}  // namespace
