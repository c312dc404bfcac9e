#include "obolus/data/newsgroups.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/corpus_file.hpp"
#include "data/newsgroups_archive.hpp"
#include "obolus/core/error.hpp"
#include "tests/data/packed.hpp"

namespace {

using namespace obolus;
using test::packed;
using test::PackedFile;
using test::Packing;
using Files = std::vector<PackedFile>;

const std::string train = "20news-bydate-train/", test_ = "20news-bydate-test/";

Files small() {
  return {{train, "", AE_IFDIR},
          {train + "b.two/10", "second by name: caf\xE9"},
          {train + "b.two/9", "third thing"},
          {train + "a.one/7", "first thing of all things"},
          {test_ + "b.two/11", "thing unseen"},
          {test_ + "a.one/8", ""}};
}

// By Python's hashlib, as newsgroups_archive.hpp defines it.
const std::string digest_of_small = "e989679efb57c37189846c6b84111383f4743332b1ea6fda189a662d36b75d40";

const CorpusIdentity identity{{1, 2}, {1, 1}, digest_of_small};

TokenisedCorpus read(const Files& files, Packing packing = Packing::tar_gz, int threads = 1,
                     const CorpusIdentity& expected = identity, const ArchiveLimits& limits = {}) {
  const std::string bytes = packed(files, packing);
  return newsgroups_of_archive({"archive", bytes}, threads, expected, limits);
}

std::string refusal(const Files& files, const CorpusIdentity& expected = identity, const ArchiveLimits& limits = {}) {
  try {
    (void)read(files, Packing::tar_gz, 2, expected, limits);
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(NewsgroupsTest, DocumentsComeByClassAndName) {
  const TokenisedCorpus corpus = read(small());
  EXPECT_EQ(corpus.classes, (std::vector<std::string>{"a.one", "b.two"}));
  EXPECT_EQ(corpus.terms, (std::vector<std::string>{"all", "by", "café", "first", "name", "of", "second", "thing",
                                                    "things", "third", "unseen"}));
  EXPECT_EQ(corpus.train.label, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(corpus.train.start, (std::vector<std::int64_t>{0, 5, 9, 11})) << "10 before 9: names are text";
  EXPECT_EQ(corpus.train.term, (std::vector<std::int32_t>{0, 3, 5, 7, 8, 1, 2, 4, 6, 7, 9}));
  EXPECT_EQ(corpus.test.label, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(corpus.test.start, (std::vector<std::int64_t>{0, 0, 2}));
}

TEST(NewsgroupsTest, HowItIsPackedDoesNotMatter) {
  const TokenisedCorpus expected = read(small());
  for (const Packing packing : {Packing::tar, Packing::tar_gz, Packing::tar_xz, Packing::zip, Packing::cpio})
    EXPECT_EQ(read(small(), packing), expected) << static_cast<int>(packing);
  Files turned = small();
  std::reverse(turned.begin(), turned.end());
  for (PackedFile& f : turned) f.name = "./some/where/" + f.name;
  turned.push_back({"./some/where/" + train + "a.one/._7", "what another system leaves behind"});
  EXPECT_EQ(read(turned), expected);
}

TEST(NewsgroupsTest, TheNumberOfThreadsChangesNothing) {
  Files many;
  for (int i = 0; i < 900; ++i) {
    std::string text;
    for (int k = 0; k < 300; ++k) text += "w" + std::to_string((i * 31 + k * k) % 5003) + " ";
    many.push_back({(i % 3 ? train : test_) + (i % 2 ? "x/" : "y/") + std::to_string(i), text});
  }
  const CorpusIdentity counts{{300, 300}, {150, 150}, ""};
  const TokenisedCorpus one = read(many, Packing::tar, 1, counts);
  for (const int threads : {2, 5}) EXPECT_EQ(read(many, Packing::tar, threads, counts), one);
}

TEST(NewsgroupsTest, AnythingMissingOrChangedIsNoticed) {
  EXPECT_EQ(refusal(small()), "accepted");
  Files files = small();
  files.pop_back();
  EXPECT_EQ(refusal(files), "archive: got 0 documents of a.one in test, expected 1");
  files = small();
  files[1].name = train + "a.one/10";
  EXPECT_EQ(refusal(files), "archive: got 2 documents of a.one in train, expected 1");
  files = small();
  files.push_back({train + "c.three/1", ""});
  EXPECT_EQ(refusal(files), "archive: got 3 classes, expected 2");
  files = small();
  files[2].content += "!";
  EXPECT_NE(refusal(files).find("digest of the documents: got "), std::string::npos) << "one character";
  files = small();
  std::swap(files[1].name, files[2].name);
  EXPECT_NE(refusal(files).find("digest"), std::string::npos) << "two names";
  files = small();
  files.push_back(files[2]);
  EXPECT_EQ(refusal(files), "archive: document b.two/9: given twice, expected once");
  EXPECT_EQ(refusal({}), "archive: got 0 classes, expected 2");
}

TEST(NewsgroupsTest, NamesAreChecked) {
  for (const std::string name : {"README", "20news-bydate-train/README", "other/b.two/1", "20news-bydate-train/b/two/1",
                                 "20news-bydate-train/../1", "20news-bydate-train/b two/1", "/etc/passwd"}) {
    Files files = small();
    files.push_back({name, "text"});
    const std::string message = refusal(files);
    EXPECT_TRUE(message.starts_with("archive: entry \"") && message.find("expected") != message.npos) << message;
  }
  Files files = small();
  files.push_back({train + "a.one/link", "", AE_IFLNK});
  EXPECT_NE(refusal(files).find("got a link or a special file"), std::string::npos);
}

TEST(NewsgroupsTest, ArchivesBeyondTheLimitsEndThere) {
  EXPECT_EQ(refusal(small(), identity, {.entries = 5}), "archive: got more than 5 entries");
  EXPECT_EQ(refusal(small(), identity, {.entry_bytes = 24}),
            "archive: entry \"20news-bydate-train/a.one/7\": got more than 24 bytes");
  EXPECT_EQ(refusal(small(), identity, {.total_bytes = 30}), "archive: got more than 30 bytes in all");
  Files bomb = small();
  bomb.push_back({train + "a.one/bomb", std::string(20'000'000, 'a')});
  EXPECT_NE(refusal(bomb).find("got more than 16777216 bytes"), std::string::npos);
}

TEST(NewsgroupsTest, DamagedArchivesAreRefusedWhereverTheyBreak) {
  const std::string whole = packed(small());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW((void)newsgroups_of_archive({"archive", std::string_view(whole).substr(0, size)}, 1, identity),
                 DataError)
        << size;
  EXPECT_THROW((void)newsgroups_of_archive({"archive", "plainly no archive"}, 1, identity), DataError);
}

// The environment is the test's own: ctest gives each test a process.
class CorpusFolderTest : public testing::Test {
 protected:
  CorpusFolderTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("obolus-") + std::to_string(getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    for (const char* name : {"OBOLUS_DATA", "XDG_CACHE_HOME", "HOME"}) unsetenv(name);
  }
  ~CorpusFolderTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(CorpusFolderTest, IsTheUsersOrTheCache) {
  EXPECT_THROW((void)data_folder(), ConfigError);
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(data_folder(), "/home/u/.cache/obolus");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(data_folder(), "/cache/obolus");
  setenv("OBOLUS_DATA", "/data", 1);
  EXPECT_EQ(data_folder(), "/data");
}

TEST_F(CorpusFolderTest, HoldsTheCorpusOnceItWasSaved) {
  setenv("OBOLUS_DATA", folder_.c_str(), 1);
  const auto message = [] {
    try {
      (void)load_newsgroups();
    } catch (const DataError& e) {
      return std::string(e.what());
    }
    return std::string("loaded");
  };
  EXPECT_NE(message().find("obolus data get 20news [--from ARCHIVE]"), std::string::npos) << message();
  const TokenisedCorpus corpus = read(small());
  save_corpus(newsgroups_path(), corpus);
  EXPECT_EQ(load_newsgroups(), corpus);
  std::ofstream(newsgroups_path(), std::ios::app) << "more";
  EXPECT_NE(message().find("its checksum is wrong; to fetch it again"), std::string::npos) << message();
}

}  // namespace
