// What all formats share: lines, numbers, keys, bad rows, and how a format is recognised.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "data/rows/line_source.hpp"
#include "data/rows/number_text.hpp"
#include "data/rows/row_format.hpp"
#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::description;
using test::reader_of;
using test::refusal;
using test::rows_of;
using test::TextBytes;
using Lines = std::vector<std::string>;

LineSource source_of(const std::string& text, std::size_t block = 1 << 18, std::size_t longest = 1 << 20) {
  return {std::make_unique<TextBytes>(text), "f", longest, block};
}

Lines lines_of(const std::string& text, std::size_t block = 1 << 18) {
  LineSource source = source_of(text, block);
  Lines lines;
  for (std::string_view line; source.next(line);) lines.emplace_back(line);
  return lines;
}

TEST(LineSourceTest, LinesEndWithLfCrlfOrTheFile) {
  for (const std::size_t block : {1, 2, 7, 1000}) {
    EXPECT_EQ(lines_of("", block), Lines{});
    EXPECT_EQ(lines_of("a\n\nb\r\nc\rd\r\n\r\ne", block), (Lines{"a", "", "b", "c\rd", "", "e"}));
    EXPECT_EQ(lines_of("a\r", block), Lines{"a"});
    EXPECT_EQ(lines_of("\xEF\xBB\xBFx\n\xEF\xBB\xBFy", block), (Lines{"x", "\xEF\xBB\xBFy"}));
    EXPECT_EQ(lines_of("\xEF\xBB", block), Lines{"\xEF\xBB"});
  }
}

TEST(LineSourceTest, WhatIsHeldIsReadAgain) {
  for (const std::size_t block : {1, 3, 1000}) {
    LineSource source = source_of("a\nbb\nccc\ndddd", block);
    std::string_view line;
    ASSERT_TRUE(source.next(line));
    source.hold();
    while (source.next(line)) {
    }
    EXPECT_EQ(source.held(), 11u);
    source.rewind();
    ASSERT_TRUE(source.next(line));
    EXPECT_EQ(line, "bb");
    EXPECT_EQ(source.number(), 2u);
    ASSERT_TRUE(source.next(line) && source.next(line));
    EXPECT_EQ(line, "dddd");
    EXPECT_FALSE(source.next(line));
  }
}

TEST(LineSourceTest, ALineHasALongestLength) {
  for (const std::size_t block : {1, 4, 1000}) {
    std::string_view line;
    LineSource fits = source_of("12345\r\n12345", block, 5), not_first = source_of("1\n123456\n", block, 5);
    EXPECT_TRUE(fits.next(line) && fits.next(line));
    ASSERT_TRUE(not_first.next(line));
    try {
      (void)not_first.next(line);
      FAIL();
    } catch (const DataError& e) {
      EXPECT_STREQ(e.what(), "f:2:6: got a longer line, expected at most 5 bytes");
    }
  }
}

TEST(LineSourceTest, WhatIsNoTextIsRefused) {
  const auto says = [](const std::string& text) { return refusal(text, {.format = "svmlight"}); };
  EXPECT_EQ(says(std::string("1 1:1\n1 1:\0\n", 12)), "f:2:5: got a NUL byte, expected text");
  EXPECT_EQ(says("\xFF\xFEx"), "f:1:1: got UTF-16, expected UTF-8 or any other text of single bytes");
  EXPECT_EQ(says("\x1F\x8B\x08"), "f:1:1: got a packed file (gzip or zstd), expected text");
}

TEST(LineSourceTest, MessagesShowTextsShortAndEscaped) {
  EXPECT_EQ(shown("a\tb\"\xFF"), "\"a\\tb\\\"\\xff\"");
  EXPECT_EQ(shown(std::string(39, 'x') + "é."), "\"" + std::string(39, 'x') + "\"…");
}

TEST(NumberTextTest, NumbersAreReadWholeOrRefused) {
  for (const auto& [text, value] : {std::pair<const char*, double>{"1", 1},
                                    {"+1.5", 1.5},
                                    {"-.5", -0.5},
                                    {"2.", 2},
                                    {"1e-3", 1e-3},
                                    {"1E5", 1e5},
                                    {"-0", -0.0},
                                    {"1e-999", 0},
                                    {"-1e-999", 0},
                                    {"0e999999999999999999999", 0},
                                    {"1e-99999999999999999999", 0}}) {
    EXPECT_EQ(number_of(text).fault, NumberFault::none) << text;
    EXPECT_EQ(number_of(text).value, value) << text;
  }
  EXPECT_EQ(number_of("0." + std::string(400, '0') + "1").value, 0);
  EXPECT_EQ(number_of("0." + std::string(400, '0') + "1").fault, NumberFault::none);
  for (const char* text : {"", "+", "-", "+-1", "--1", " 1", "1 ", "1,5", "0x10", "1e", "e5", ".", "1.2.3", "\xC2\xBD"})
    EXPECT_EQ(number_of(text).fault, NumberFault::not_a_number) << text;
  for (const char* text : {"nan", "NaN", "-nan", "inf", "-Infinity"})
    EXPECT_EQ(number_of(text).fault, NumberFault::not_finite) << text;
  for (const std::string& text : {std::string("1e999"), std::string("-1e999"), std::string(400, '9'),
                                  std::string(400, '9') + "e-5", std::string("1e99999999999999999999")})
    EXPECT_EQ(number_of(text).fault, NumberFault::too_large) << text;
  EXPECT_EQ(float_of("3.4e38").fault, NumberFault::none);
  EXPECT_EQ(float_of("3.5e38").fault, NumberFault::too_large);
}

// By an implementation of MurmurHash64A in Python.
TEST(RowKeyTest, IsTheSameOnEveryMachine) {
  EXPECT_EQ(row_key("", "a"), 0x071717D2D36B6B11u);
  EXPECT_EQ(row_key("words", "hello"), 0xFAF73F75C0AB5956u);
  EXPECT_EQ(row_key("words", "a longer feature name"), 0xB020BEB97F04C5C9u);
  EXPECT_EQ(row_key("12345678", "12345678"), 0x2D80C82C3B27B45Eu);
  EXPECT_EQ(row_key("colour", "größe"), 0x044E44BA5581FA64u);
  EXPECT_NE(row_key("ab", "c"), row_key("a", "bc"));
}

TEST(BadRowsTest, SoManyAreSkippedAndCounted) {
  RowOptions options{.format = "svmlight", .skip_bad = 2};
  const std::string text = "1 1:1\nx\n2 2:2\n3 3\n4 4:4\n";
  auto reader = reader_of(text, options);
  EXPECT_EQ(test::all_rows(*reader).size(), 3u);
  EXPECT_EQ(reader->skipped(), 2u);
  EXPECT_EQ(reader->first_skipped(), "f:2:1: got \"x\", expected a number as the label");
  options.skip_bad = 1;
  EXPECT_EQ(refusal(text, options),
            "f:4:3: got \"3\", expected INDEX:VALUE (after skipping 1 bad rows, as many as allowed)");
  options.skip_bad = 0;
  EXPECT_EQ(refusal(text, options), "f:2:1: got \"x\", expected a number as the label");
}

TEST(BadRowsTest, TheRowAfterAnErrorCanBeRead) {
  auto reader = reader_of("a,y\n1,2\n3\n4,5\n", {.format = "csv"});
  DataRow row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_THROW((void)reader->next(row), DataError);
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row, (DataRow{"5", 1, "", {{0, 0, 4}}}));
  EXPECT_FALSE(reader->next(row));
}

TEST(RowFormatTest, TheExtensionTellsAndElseTheFirstLine) {
  const auto format = [](const std::string& name, const std::string& text) {
    return description(text, {}, name).substr(0, 3);
  };
  EXPECT_EQ(format("a.svm", ""), "svm");
  EXPECT_EQ(format("a.libsvm.gz", ""), "svm");
  EXPECT_EQ(format("a.csv.zst", "1 1:2\n"), "CSV");
  EXPECT_EQ(format("a.arff", "@attribute a real\n@data\n"), "ARF");
  EXPECT_EQ(format("a.vw", ""), "Vow");
  for (const char* text : {"1 1:2\n", "-1 qid:1 1:2\n", "# c\n", "\n\n1 5:1\n", "1,2 1:3\n", "1:2\n", ""})
    EXPECT_EQ(format("-", text), "svm") << text;
  for (const char* text : {"a,b\n", "1;2\n", "x y\tz\n", "1|2|3\n"}) EXPECT_EQ(format("a.txt", text), "CSV") << text;
  for (const char* text : {"1 |a b\n", "|a b\n", "1 'x|a b\n", " | a:1\n"}) EXPECT_EQ(format("-", text), "Vow") << text;
  EXPECT_EQ(format("-", "% c\n@attribute a real\n@data\n"), "ARF");
  EXPECT_EQ(refusal("\nwords only\n", {}),
            "f:2:1: got \"words only\", expected a first line that tells the format (ARFF, JSON lines, Vowpal "
            "Wabbit, svmlight, CSV); else name the format");
}

TEST(RowFormatTest, EachDescribesItself) {
  std::vector<std::string> endings, known;
  RowOptions options;
  options.describe([&](std::string_view name, const auto&, std::string_view) { known.emplace_back(name); });
  for (const RowFormat& format : row_formats()) {
    EXPECT_FALSE(format.title.empty() || format.summary.empty()) << format.name;
    EXPECT_TRUE(format.recognises && format.open) << format.name;
    for (const std::string& option : format.options)
      EXPECT_NE(std::find(known.begin(), known.end(), option), known.end()) << format.name << ": " << option;
    endings.insert(endings.end(), format.endings.begin(), format.endings.end());
  }
  std::sort(endings.begin(), endings.end());
  EXPECT_EQ(std::adjacent_find(endings.begin(), endings.end()), endings.end());
  EXPECT_EQ(row_format_names().size(), row_formats().size() + 1);
  EXPECT_EQ(titles_of_formats("index_base"), "svmlight");
}

TEST(RowFormatTest, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_EQ(refusal("1,2\n", {.format = "cvs"}),
            "format: got 'cvs', expected the name of a format (did you mean 'csv'?)");
}

}  // namespace
