// Several files as one stream.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "data/rows/chained_rows.hpp"
#include "data/rows/open_rows.hpp"
#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::all_rows;
using test::reader_of;
using Rows = std::vector<DataRow>;
using Names = std::vector<std::string>;
using Files = std::vector<std::pair<std::string, std::string>>;  // names, texts

std::unique_ptr<RowReader> chained(const Files& files, const RowOptions& options = {}) {
  Names paths;
  for (const auto& file : files) paths.push_back(file.first);
  const std::map<std::string, std::string> texts(files.begin(), files.end());
  return chained_rows(paths, options, [texts](const std::string& path, const RowOptions& own) {
    return reader_of(texts.at(path), own, path);
  });
}

std::string says(const Files& files, const RowOptions& options = {}) {
  try {
    (void)all_rows(*chained(files, options));
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ChainedRowsTest, RowsComeFileAfterFileAndPlacesNameThem) {
  const auto reader = chained({{"a.svm", "1 1:2\n"}, {"b.svm", "# c\n2 3:4"}, {"c.svm", ""}, {"d.svm", "3 5:6\n"}});
  Names places;
  Rows rows;
  for (DataRow row; reader->next(row); rows.push_back(row)) places.push_back(reader->place());
  EXPECT_EQ(rows, (Rows{{"1", 1, "", {{0, 1, 2}}}, {"2", 1, "", {{0, 3, 4}}}, {"3", 1, "", {{0, 5, 6}}}}));
  EXPECT_EQ(places, (Names{"a.svm:1", "b.svm:2", "d.svm:1"}));
  DataRow row;
  EXPECT_FALSE(reader->next(row));
  EXPECT_EQ(reader->describe(), "svmlight, indices from one (no index 0 in the first 1 rows of a.svm); file 4 of 4");
}

TEST(ChainedRowsTest, AreThoseOfOneFileThatHoldsAll) {
  const std::string head = "n,c,y\n", first = "1,x,a\nNA,y,b\n", second = "3,\"z\nz\",a\n,x,\n";
  const auto one = reader_of(head + first + second, {}, "f.csv");
  const auto two = chained({{"a.csv", head + first}, {"b.csv", head + second}});
  EXPECT_EQ(all_rows(*two), all_rows(*one));
  EXPECT_EQ(two->groups(), one->groups());
}

// Each file by itself would be taken to count from one and from zero.
TEST(ChainedRowsTest, TheIndexBaseOfTheFirstFileHoldsForAll) {
  EXPECT_EQ(
      says({{"a.svm", "1 1:1\n1 2:1\n"}, {"b.svm", "1 2:1\n1 0:1\n"}}),
      "b.svm:2:3: got index 0, expected indices from 1: the first 2 rows of a.svm had no index 0, so the files were "
      "taken to count from one; if they count from zero, set the index base to zero");
  EXPECT_EQ(
      says({{"a.svm", "1 1:1\n"}, {"b.svm", "1 2:1\n"}, {"c.svm", "1 0:1\n"}}),
      "c.svm:1:3: got index 0, expected indices from 1: the first 1 rows of a.svm had no index 0, so the files were "
      "taken to count from one; if they count from zero, set the index base to zero");
  EXPECT_EQ(says({{"a.svm", "1 0:1\n"}, {"b.svm", "1 2:1\n"}, {"c.svm", "1 0:1\n"}}), "accepted");
  EXPECT_EQ(says({{"a.svm", "1 1:1\n"}, {"b.svm", "1 0:1\n"}}, {.index_base = IndexBase::zero}), "accepted");
  EXPECT_EQ(
      says({{"a.svm", "1 1:1\n"}, {"b.svm", "1 0:1\n"}}, {.index_base = IndexBase::one}),
      "b.svm:1:3: got index 0, expected indices from 1, as the index base says; if the file counts from zero, set "
      "it to zero");
  const auto zero = chained({{"a.svm", "1 0:1\n"}, {"b.svm", "1 2:1\n"}});
  (void)all_rows(*zero);
  EXPECT_EQ(zero->index_base(), 0);
}

TEST(ChainedRowsTest, FilesWithoutRowsDecideNothing) {
  EXPECT_EQ(says({{"a.svm", "# c\n"}, {"b.svm", "1 0:1\n"}, {"c.svm", "1 0:1\n"}}), "accepted");
  EXPECT_EQ(says({{"a", ""}, {"b", "1 |n a\n"}, {"c", "\n"}, {"d", "1 |n b\n"}}), "accepted");
  const auto reader = chained({{"a.csv", "x,y\n"}, {"b.csv", "x,y\nred,1\n"}, {"c.csv", ""}, {"d.csv", "x,y\n7,1\n"}});
  EXPECT_EQ(all_rows(*reader),
            (Rows{{"1", 1, "", {{0, row_key("x", "red"), 1}}}, {"1", 1, "", {{0, row_key("x", "7"), 1}}}}));
}

TEST(ChainedRowsTest, NamespacesKeepTheirNumbers) {
  const auto reader = chained({{"a.vw", "1 |n a |m b\n"}, {"b.vw", "1 |m b |k c |n a\n"}});
  EXPECT_EQ(all_rows(*reader).at(1).features,
            (std::vector<RowFeature>{{1, row_key("m", "b"), 1}, {2, row_key("k", "c"), 1}, {0, row_key("n", "a"), 1}}));
  EXPECT_EQ(reader->groups(), (Names{"n", "m", "k"}));
}

// Delimiter and header are each file's own; the column c looks numeric in the second.
TEST(ChainedRowsTest, ColumnsAreMatchedByNameAndKeepWhatTheyAre) {
  const auto reader = chained({{"a.csv", "n,c,y\n1,red,p\n"}, {"b.csv", "y;c;n\nq;7;2\n"}});
  EXPECT_EQ(all_rows(*reader), (Rows{{"p", 1, "", {{0, 0, 1}, {1, row_key("c", "red"), 1}}},
                                     {"q", 1, "", {{1, row_key("c", "7"), 1}, {0, 0, 2}}}}));
  EXPECT_EQ(reader->groups(), (Names{"n", "c"}));
  EXPECT_EQ(says({{"a.csv", "n,y\n1,p\n"}, {"b.csv", "n,y\nred,p\n"}}),
            "b.csv:2:1: got \"red\" in column \"n\", expected a number");
}

TEST(ChainedRowsTest, OtherColumnsAreRefused) {
  const std::string a = "n,c,y\n1,red,p\n";
  EXPECT_EQ(says({{"a.csv", a}, {"b.csv", "n,d,y\n1,red,p\n"}}),
            "b.csv: got the columns n, d, y, expected those of a.csv: n, c, y");
  EXPECT_EQ(says({{"a.csv", a}, {"b.csv", "n,y\n1,p\n"}}),
            "b.csv: got the columns n, y, expected those of a.csv: n, c, y");
  EXPECT_EQ(says({{"a.csv", a}, {"b.csv", "1,red,p\n"}}),
            "b.csv: got the columns 1, 2, 3, expected those of a.csv: n, c, y");
  EXPECT_EQ(says({{"a.csv", "1,red,p\n"}, {"b.csv", "2,blue,q\n"}}), "accepted");
  const auto twice = [](const std::string& names) { return names + "\n1,2,3\n"; };
  const RowOptions header{.header = Header::yes};
  EXPECT_EQ(says({{"a.csv", twice("a,a,b")}, {"b.csv", twice("a,a,b")}}, header), "accepted");
  EXPECT_EQ(says({{"a.csv", twice("a,a,b")}, {"b.csv", twice("b,a,a")}}, header),
            "b.csv: got the columns b, a, a, expected those of a.csv: a, a, b");
}

TEST(ChainedRowsTest, AttributesAreMatchedByNameAndKind) {
  const auto arff = [](const std::string& kind, const std::string& rows) {
    return "@attribute a " + kind + "\n@attribute y {u,v}\n@data\n" + rows;
  };
  EXPECT_EQ(says({{"a.arff", arff("real", "1,u\n")}, {"b.arff", arff("integer", "2,v\n")}}), "accepted");
  EXPECT_EQ(says({{"a.arff", arff("real", "1,u\n")}, {"b.arff", arff("{1,2}", "2,v\n")}}),
            "b.arff: got the categorical attribute \"a\", expected a numeric one as in a.arff");
}

TEST(ChainedRowsTest, FormatsAreNotMixed) {
  EXPECT_EQ(says({{"a.svm", "1 1:1\n"}, {"b.vw", "1 | a\n"}}),
            "b.vw: got Vowpal Wabbit, expected svmlight as in a.svm: files read as one have one format");
  EXPECT_EQ(says({{"a", "1 1:1\n"}, {"b", "1,2\n"}}),
            "b: got CSV, expected svmlight as in a: files read as one have one format");
}

TEST(ChainedRowsTest, BadRowsAreCountedTogether) {
  const Files files{{"a.svm", "1 1:1\nx\n"}, {"b.svm", "y\n2 2:2\n"}, {"c.svm", "3 3:3\nz\n"}};
  const auto reader = chained(files, {.skip_bad = 3});
  EXPECT_EQ(all_rows(*reader).size(), 3u);
  EXPECT_EQ(reader->skipped(), 3u);
  EXPECT_EQ(reader->first_skipped(), "a.svm:2:1: got \"x\", expected a number as the label");
  EXPECT_EQ(says(files, {.skip_bad = 2}),
            "c.svm:2:1: got \"z\", expected a number as the label (after skipping 2 bad rows, as many as allowed)");
  EXPECT_EQ(says(files), "a.svm:2:1: got \"x\", expected a number as the label");
}

TEST(ChainedRowsTest, AFileThatCannotFollowEndsTheStreamForGood) {
  const auto reader = chained({{"a.csv", "x,y\n1,2\n"}, {"b.csv", "z,y\n1,2\n"}}, {.skip_bad = 9});
  DataRow row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_THROW((void)reader->next(row), DataError);
  EXPECT_THROW((void)reader->next(row), DataError);
  EXPECT_EQ(reader->groups(), Names{"x"});
  EXPECT_EQ(reader->place(), "a.csv:2");
}

TEST(ChainedRowsTest, PathsAreCheckedBeforeTheFirstRow) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("obolus_chain_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string a = folder / "a.svm", b = folder / "b.svm", none = folder / "none.svm";
  std::ofstream(a) << "1 1:1\n";
  std::ofstream(b) << "2 2:2\n";
  const auto opening = [](const Names& paths) {
    try {
      return std::to_string(all_rows(*open_rows(paths)).size());
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(opening({a, b}), "2");
  EXPECT_EQ(opening({b}), "1");
  EXPECT_EQ(opening({a, none}), none + ": cannot be read: No such file or directory");
  EXPECT_EQ(opening({"-", a, "-"}), "got standard input (-) twice, expected it once: it can be read once");
  EXPECT_EQ(opening({}), "got no files, expected one or more");
  std::filesystem::remove_all(folder);
}

}  // namespace
