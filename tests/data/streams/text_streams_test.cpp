#include "data/streams/text_streams.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "data/streams/pinned_files.hpp"
#include "obolus/core/error.hpp"
#include "tests/data/packed.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using test::packed;
using test::PackedFile;
using test::Packing;

template <class Call>
std::string refusal(Call&& call) {
  try {
    (void)call();
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

std::string rows_of(const char* stream, const std::vector<PackedFile>& files, const std::string& digest = "") {
  const std::string bytes = packed(files);
  return text_stream_named(stream)->rows({"here", bytes}, digest);
}

// ---- Files ----------------------------------------------------------------------------------------------------------

std::string_view text_within(std::string_view path) { return path.ends_with(".txt") ? end_of_path(path, 1) : ""; }

TEST(PinnedFiles, TheEndOfAPathIsItsLastNames) {
  EXPECT_EQ(end_of_path("a/b/c", 1), "c");
  EXPECT_EQ(end_of_path("a/b/c", 2), "b/c");
  EXPECT_EQ(end_of_path("a/b/c", 4), "a/b/c");
  EXPECT_EQ(end_of_path("/c", 2), "/c");
  EXPECT_EQ(end_of_path("", 1), "");
}

TEST(PinnedFiles, TheDigestIsOfNamesAndContentsHoweverTheyArePacked) {
  // Computed with Python's hashlib.
  const std::string digest = "6359800d05af6cf80fb8c45533cab20b41676498d05a00467ec6973b4808dbe8";
  const std::vector<PackedFile> files{{"p/b.txt", "two"}, {"p/other", "x"}, {"p/a.txt", "one"}};
  for (const Packing packing : {Packing::tar, Packing::tar_gz, Packing::zip}) {
    const std::string bytes = packed(files, packing);
    const auto got = pinned_files({"here", bytes}, {.digest = digest, .name_within = text_within});
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].name, "a.txt");
    EXPECT_EQ(got[1].content, "two");
  }
  const auto of = [&](const std::vector<PackedFile>& other) {
    const std::string bytes = packed(other);
    return refusal([&] { return pinned_files({"here", bytes}, {.digest = digest, .name_within = text_within}); });
  };
  EXPECT_TRUE(of({{"a.txt", "one"}, {"b.txt", "twO"}}).starts_with("here: digest of 2 files: got ")) << of({});
  EXPECT_TRUE(of({{"a.txt", "one"}}).ends_with(", expected " + digest));
  EXPECT_EQ(of({{"a.txt", "one"}, {"x/a.txt", "one"}}), "here: \"a.txt\": given twice, expected once");
  EXPECT_EQ(of({{"c", "one"}}), "here: got none of the expected files, expected them");
}

// ---- Streams --------------------------------------------------------------------------------------------------------

TEST(TextStreams, EachHasAPinnedVersionADigestAndALicence) {
  for (const TextStream& stream : text_streams()) {
    EXPECT_NE(stream.package.rfind('@'), std::string::npos);
    EXPECT_GT(stream.package.rfind('@'), 0u);
    EXPECT_EQ(stream.digest.size(), 64u);
    EXPECT_FALSE(stream.licence.empty());
    EXPECT_GE(stream.classes.size(), 2u);
    EXPECT_TRUE(refusal([&] {
                  return rows_of(stream.name.c_str(), {{"x", "y"}}, stream.digest);
                }).starts_with("here: got none of the files"));
  }
  EXPECT_EQ(text_stream_named("20news"), nullptr);
}

std::string mail(const std::string& day, const std::string& words) {
  return "Subject: hello\nDate: " + day + " Aug 2002 12:00:00 +0000\n\n" + words + "\n";
}

TEST(SpamAssassin, MailsComeByDateWhateverTheirGroup) {
  EXPECT_EQ(rows_of("spam-assassin", {{"package/data/spam-1/00001.ab.txt", mail("23", "money")},
                                      {"package/data/spam-1/00001.ab.json", "{}"},
                                      {"package/data/hard-ham-1/00002.cd.txt", mail("22", "work")},
                                      {"package/data/file_list.txt", "x"}}),
            "1 'hard-ham-1/00002|subject:0.707107 hello |body:0.707107 work\n"
            "2 'spam-1/00001|subject:0.707107 hello |body:0.707107 money\n");
  EXPECT_EQ(refusal([] { return rows_of("spam-assassin", {{"data/spam-2/1.txt", "Subject: x\n\ny"}}); }),
            "here: \"spam-2/1.txt\": got a mail without a date, expected one in Received or Date");
}

TEST(Reuters, NewsOfOneTopicComeByDateThenByNumber) {
  const char* list = R"([
    {"id": "12", "date": "27-FEB-1987 00:00:00.00", "title": "Wheat", "topics": ["wheat"]},
    {"id": "3", "date": "26-FEB-1987 15:01:01.79", "title": "Profits", "body": "up up", "topics": ["earn"]},
    {"id": "20", "date": "26-FEB-1987 15:01:01.79", "body": "coffee", "topics": ["coffee"]},
    {"id": "4", "date": "26-FEB-1987 15:01:01.79", "topics": ["earn"]},
    {"id": "5", "date": "26-FEB-1987 15:01:01.79", "title": "two", "topics": ["earn", "acq"]},
    {"id": "6", "date": "26-FEB-1987 15:01:01.79", "title": "none"}])";
  EXPECT_EQ(rows_of("reuters", {{"package/data/full/reuters-000.json", list}, {"data/noIDs/reuters-001.json", "?"}}),
            "1 '3|title:0.508542 profits |body:0.508542 up:1.693\n"
            "10 '20|body:1 coffee\n"
            "11 '12|title:1 wheat\n");
}

TEST(Reuters, WhatHasAnotherFormIsRefused) {
  const auto of = [](const std::string& list) {
    return refusal([&] { return rows_of("reuters", {{"full/reuters-000.json", list}}); });
  };
  const std::string here = "here: reuters-000.json: ";
  EXPECT_EQ(of("{"), here + "expected a JSON list of news items");
  EXPECT_EQ(of("[3]"), here + "news 1: entry: got 3, expected an object");
  EXPECT_EQ(of(R"([{}, {"topics": 1}])"), here + "news 2: topics: got 1, expected a list");
  EXPECT_EQ(of(R"([{"topics": [1]}])"), here + "news 1: topics: got 1, expected texts");
  EXPECT_EQ(of(R"([{"topics": ["x"], "title": 1}])"), here + "news 1: title: got 1, expected a text");
  EXPECT_EQ(of(R"([{"topics": ["x"], "title": "t", "id": "1", "date": "now"}])"),
            here + R"(news 1: date: got "now", expected one such as 26-FEB-1987 15:01:01.79)");
  EXPECT_EQ(of(R"([{"topics": ["x"], "title": "t", "id": "-1", "date": "26-FEB-1987 15:01:01.79"}])"),
            here + R"(news 1: id: got "-1", expected a whole number)");
  EXPECT_EQ(of(std::string(100'000, '[')), here + "expected a JSON list of news items");
}

TEST(Imdb, ReviewsAreShuffledAndTheirLineBreaksAreNoWords) {
  const std::string rows =
      rows_of("imdb", {{"package/reviews.json", R"([{"t":"bad<br /><br />worse","s":0},{"t":"good","s":1}])"}});
  const std::string bad = "1 '1|text:0.707107 bad worse\n", good = "2 '2|text:1 good\n";
  EXPECT_TRUE(rows == bad + good || rows == good + bad) << rows;
  for (const char* list : {R"([{"t":"x"}])", R"([{"s":1,"t":1}])", R"([{"s":2,"t":"x"}])", "[1]"})
    EXPECT_EQ(refusal([&] { return rows_of("imdb", {{"reviews.json", list}}); }),
              "here: review 1: got " + std::string(list).substr(1, std::string(list).size() - 2) +
                  ", expected a text t and a number s, 0 or 1");
}

TEST(TextStreams, WhatIsSavedLiesBesideItsClassesAndWhatIsAbsentSaysHowToBringIt) {
  const test::TemporaryFolder folder;
  const char* before = std::getenv("OBOLUS_DATA");
  const std::string kept = before ? before : "";
  setenv("OBOLUS_DATA", folder.file("new").c_str(), 1);
  const TextStream& stream = *text_stream_named("spam-assassin");
  EXPECT_EQ(refusal([&] { return kept_rows_path(stream); }),
            "spam-assassin: not found at " + folder.path() +
                "/new/spam-assassin.vw; to fetch it:\n  obolus data get spam-assassin [--from ARCHIVE]");
  save_rows(stream, "1 |a b\n");
  EXPECT_EQ(kept_rows_path(stream), folder.path() + "/new/spam-assassin.vw");
  EXPECT_EQ(folder.read("new/spam-assassin.vw"), "1 |a b\n");
  EXPECT_EQ(folder.read("new/spam-assassin.classes"), "1 ham\n2 spam\n");
  if (before) setenv("OBOLUS_DATA", kept.c_str(), 1);
  else unsetenv("OBOLUS_DATA");
}

}  // namespace
