// Streams as they come: packed, in pieces of any size, damaged, endless.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "data/rows/open_rows.hpp"
#include "obolus/core/rng.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/data/rows_text.hpp"

namespace {

using namespace obolus;
using test::all_rows;
using test::AllocationCounter;
using test::reader_of;
using test::refusal;
using test::rows_of;
using test::TextBytes;
using Rows = std::vector<DataRow>;

struct Sample {
  const char* format;
  std::string text;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all{
      {"svmlight", "# c\r\n1 qid:2 1:0.5 3:-2e1\n-1 9:1 4:2 # x\n\n+1 2:3"},
      {"csv", "a,\"b \"\"c\"\"\",w,y\r\n1,\"x,\r\n\"\"y\"\"\",1,p\r\nNA,z,2.5,q\n,\"\",1,\"r\n\""},
      {"arff",
       "\xEF\xBB\xBF% c\n@relation r\n@attribute a real\n@attribute 'b c' {x,'y z'}\n@attribute s string\n"
       "@attribute class {u,v}\n@data\n1,x,'it\\'s',u\n{0 2, 3 v}\n?,'y z',?,v,{2}"},
      {"jsonl",
       "{\"n\":1.5,\"u\":{\"c\":[\"x\",2,null]},\"label\":\"p\"}\r\n\n{\"n\":true, "
       "\"\\u00e9\":\"\xC3\xA9\"}\n{\"label\":1}"},
      {"vw", "1 2 'tag|ns:2 a:1.5 b |other c\r\n| d:2\n-1 |ns a |x y:-1"}};
  return all;
}

enum class Pack { gzip, zstd };

// With a checksum, as the program zstd writes it.
std::string zstd_packed(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string gzip_packed(const std::string& text) {
  archive* a = archive_write_new();
  archive_write_set_format_raw(a);
  archive_write_add_filter_gzip(a);
  archive_write_set_bytes_in_last_block(a, 1);  // no zeros behind
  std::string out(2 * text.size() + (std::size_t{1} << 16), '\0');
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_pathname(entry, "f");
  archive_write_header(a, entry);
  if (!text.empty()) archive_write_data(a, text.data(), text.size());
  archive_entry_free(entry);
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

std::string packed(const std::string& text, Pack pack) {
  return pack == Pack::gzip ? gzip_packed(text) : zstd_packed(text);
}

std::unique_ptr<RowReader> unpacking(std::string bytes, const RowOptions& options) {
  return read_rows(unpacked_bytes(std::make_unique<TextBytes>(std::move(bytes)), "f"), "f", options);
}

TEST(RowStreamTest, PiecesOfAnySizeGiveTheSameRows) {
  for (const Sample& sample : samples()) {
    const Rows whole = rows_of(sample.text, {.format = sample.format});
    EXPECT_EQ(whole.size(), 3u);
    for (const std::size_t block : {1, 2, 7, 64})
      EXPECT_EQ(rows_of(sample.text, {.format = sample.format, .block = block}), whole) << block;
  }
}

TEST(RowStreamTest, GzipAndZstdAreRecognisedByTheirContent) {
  for (const Sample& sample : samples())
    for (const Pack pack : {Pack::gzip, Pack::zstd}) {
      const Rows whole = rows_of(sample.text, {.format = sample.format});
      const std::string bytes = packed(sample.text, pack);
      EXPECT_EQ(all_rows(*unpacking(bytes, {.format = sample.format})), whole);
      EXPECT_EQ(all_rows(*unpacking(bytes, {.format = sample.format, .block = 1})), whole);
      EXPECT_EQ(all_rows(*unpacking(sample.text, {.format = sample.format})), whole);
    }
}

TEST(RowStreamTest, PackedPiecesFollowEachOtherAndMayBeEmpty) {
  for (const Pack pack : {Pack::gzip, Pack::zstd}) {
    const RowOptions options{.format = "svmlight"};
    EXPECT_EQ(all_rows(*unpacking(packed("1 1:1\n2 2", pack) + packed(":2\n", pack), options)),
              rows_of("1 1:1\n2 2:2\n", options));
    EXPECT_EQ(all_rows(*unpacking(packed("", pack), options)), Rows{});
  }
}

TEST(RowStreamTest, ACutOrDamagedPackIsAnError) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{} {}:{}\n", i % 2, i + 1, i * 37 % 1009);
  for (const Pack pack : {Pack::gzip, Pack::zstd}) {
    const std::string bytes = packed(text, pack);
    for (const std::size_t size : {std::size_t{5}, bytes.size() / 2, bytes.size() - 9}) try {
        (void)all_rows(*unpacking(bytes.substr(0, size), {.format = "svmlight"}));
        ADD_FAILURE() << size << " of " << bytes.size() << " bytes were accepted";
      } catch (const DataError& e) {
        EXPECT_EQ(std::string(e.what()).substr(0, 23), "f: cannot be unpacked: ") << e.what();
      }
  }
}

// What the error says, at the opening or later; asked again, the reader says the same.
std::string unpacking_says(const std::string& bytes) {
  std::unique_ptr<RowReader> reader;
  std::string first;
  for (int i = 0; i < 2; ++i) try {
      if (!reader) reader = unpacking(bytes, {.format = "svmlight", .skip_bad = 9});
      (void)all_rows(*reader);
      return "accepted";
    } catch (const DataError& e) {
      if (i == 0) first = e.what();
      else EXPECT_EQ(first, e.what());
    }
  return first;
}

TEST(RowStreamTest, ChecksumsAndLengthsAreCompared) {
  std::string text;
  for (int i = 1; i < 2'000; ++i) text += fmt::format("1 {}:{}\n", i, i * 37 % 1009);
  const auto damaged = [](std::string bytes, std::size_t from_end) {
    bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ 1);
    return bytes;
  };
  const std::string gzip = packed(text, Pack::gzip), zstd = packed(text, Pack::zstd);
  const std::string checksum = "f: cannot be unpacked: its checksum does not match its content: it is damaged";
  EXPECT_EQ(unpacking_says(gzip), "accepted");
  EXPECT_EQ(unpacking_says(damaged(gzip, 5)), checksum);
  EXPECT_EQ(unpacking_says(damaged(gzip, 8)), checksum);
  EXPECT_EQ(unpacking_says(damaged(gzip, 1)),
            "f: cannot be unpacked: its length does not match its content: it is damaged");
  EXPECT_EQ(unpacking_says(gzip + damaged(gzip, 8)), checksum);
  EXPECT_EQ(unpacking_says(damaged(gzip, 8) + gzip), checksum);
  EXPECT_EQ(unpacking_says(zstd), "accepted");
  EXPECT_EQ(unpacking_says(damaged(zstd, 1)), checksum);
  EXPECT_EQ(unpacking_says(zstd + damaged(zstd, 1)), checksum);
}

TEST(RowStreamTest, APackIsCutAtNoByte) {
  for (const Pack pack : {Pack::gzip, Pack::zstd}) {
    const std::string bytes = packed("1 1:0.5 7:2\n-1 2:3\n", pack);
    const std::size_t magic = pack == Pack::gzip ? 2 : 4;
    for (std::size_t size = magic; size < bytes.size(); ++size) {
      EXPECT_EQ(unpacking_says(bytes.substr(0, size)), "f: cannot be unpacked: it is truncated") << size;
      EXPECT_EQ(unpacking_says(bytes + bytes.substr(0, size)), "f: cannot be unpacked: it is truncated") << size;
    }
  }
}

TEST(RowStreamTest, BehindAPackStandsAnotherOneOrNothing) {
  const std::string gzip = packed("1 1:1\n", Pack::gzip), zstd = packed("1 1:1\n", Pack::zstd);
  EXPECT_EQ(unpacking_says(gzip + std::string(1'000'000, '\0')), "accepted");
  const std::string no_gzip = "f: cannot be unpacked: the bytes after its end are not gzip";
  EXPECT_EQ(unpacking_says(gzip + "1 2:3\n"), no_gzip);
  EXPECT_EQ(unpacking_says(gzip + std::string(1'000'000, '\0') + "1"), no_gzip);
  EXPECT_EQ(unpacking_says(gzip + std::string(4, '\0') + gzip), no_gzip);
  EXPECT_EQ(unpacking_says(zstd + "1 2:3\n"), "f: cannot be unpacked: the bytes after its end are not zstd");
}

TEST(RowStreamTest, FilesAreOpenedByTheirPath) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("obolus_rows_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string path = folder / "a.csv.gz", none = folder / "none.csv";
  std::ofstream(path, std::ios::binary) << packed("a,y\n1,2\n3\n", Pack::gzip);
  auto reader = open_rows(path);
  DataRow row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row, (DataRow{"2", 1, "", {{0, 0, 1}}}));
  EXPECT_EQ(reader->place(), path + ":2");
  const auto says = [](auto action) {
    try {
      action();
    } catch (const DataError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(says([&] { (void)reader->next(row); }), path + ":3:2: got the end of the row after 1 columns, expected 2");
  EXPECT_EQ(says([&] { (void)open_rows(none); }), none + ": cannot be read: No such file or directory");
  EXPECT_EQ(says([&] { (void)open_rows(folder); }), folder.string() + ": cannot be read: Is a directory");
  std::filesystem::remove_all(folder);
}

// The writer keeps its end open: a reader that waited for more than the line would wait for ever.
TEST(RowStreamTest, ARowOfALiveStreamComesWithItsLine) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int before = ::dup(STDIN_FILENO);
  ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  const auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  write("1 1:2\n");
  const auto reader = open_rows("-", {.index_base = IndexBase::one});
  DataRow row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row, (DataRow{"1", 1, "", {{0, 1, 2}}}));
  write("2 3:4\n5 x");
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row, (DataRow{"2", 1, "", {{0, 3, 4}}}));
  EXPECT_EQ(reader->place(), "standard input:2");
  ::close(ends[1]);
  EXPECT_THROW((void)reader->next(row), DataError);
  EXPECT_FALSE(reader->next(row));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(ends[0]);
}

TEST(RowStreamTest, StandardInputMayBePacked) {
  for (const Pack pack : {Pack::gzip, Pack::zstd}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const int before = ::dup(STDIN_FILENO);
    ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    const std::string bytes = packed("1 1:2\n", pack), cut = bytes.substr(0, bytes.size() - 1);
    ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ASSERT_EQ(::write(ends[1], cut.data(), cut.size()), static_cast<ssize_t>(cut.size()));
    ::close(ends[1]);
    const auto reader = open_rows("-", {.index_base = IndexBase::one});
    DataRow row;
    ASSERT_TRUE(reader->next(row));
    EXPECT_EQ(row, (DataRow{"1", 1, "", {{0, 1, 2}}}));
    try {
      while (reader->next(row)) continue;
      ADD_FAILURE() << "a cut stream was accepted";
    } catch (const DataError& e) {
      EXPECT_STREQ(e.what(), "standard input: cannot be unpacked: it is truncated");
    }
    ::dup2(before, STDIN_FILENO);
    ::close(before);
    ::close(ends[0]);
  }
}

// Whatever the bytes are, rows come out or a DataError: under the sanitizers this is the proof that nothing else does.
TEST(RowStreamTest, RandomChangesNeverDoMoreThanThrow) {
  Rng rng(7);
  for (const Sample& sample : samples())
    for (int round = 0; round < 4'000; ++round) {
      std::string text = sample.text;
      const auto changes = 1 + rng.below(4);
      for (std::uint64_t c = 0; c < changes; ++c) {
        const std::size_t at = rng.below(text.size());
        const std::string_view telling = "\"',;:|{}%#@\\\n\r\t ?0-+.e\xFF";
        const char byte = rng.below(3) == 0 ? static_cast<char>(rng.below(256)) : telling[rng.below(telling.size())];
        switch (rng.below(3)) {
          case 0: text[at] = byte; break;
          case 1: text.insert(at, 1, byte); break;
          default: text.erase(at, 1 + rng.below(3));
        }
      }
      const auto format = rng.below(4) == 0 ? "auto" : sample.format;
      const RowOptions options{.format = format, .skip_bad = rng.below(3), .block = 1 + rng.below(16)};
      (void)refusal(text, options);  // catches Error and nothing else
    }
}

TEST(RowStreamTest, DamagedPacksNeverDoMoreThanThrow) {
  Rng rng(8);
  for (const Pack pack : {Pack::gzip, Pack::zstd}) {
    const std::string bytes = packed(samples().front().text, pack);
    const Rows whole = rows_of(samples().front().text, {.format = "svmlight"});
    for (int round = 0; round < 1'000; ++round) {
      std::string damaged = bytes;
      const std::size_t at = rng.below(damaged.size());
      damaged[at] = static_cast<char>(rng.below(256));
      try {
        const Rows rows = all_rows(*unpacking(damaged, {.format = "svmlight"}));
        EXPECT_TRUE(at < 4 || rows == whole) << at;  // without its magic it is another text
      } catch (const DataError&) {
      }
    }
  }
}

// The same lines again and again, until so many bytes have been read.
class Repeated : public ByteSource {
 public:
  Repeated(std::string head, std::string piece, std::size_t bytes)
      : text_(std::move(head)), piece_(std::move(piece)), left_(bytes) {}
  [[nodiscard]] std::size_t read(std::span<char> to) override {
    if (at_ == text_.size()) {
      if (left_ < piece_.size()) return 0;
      left_ -= piece_.size();
      if (text_.data() != piece_.data()) text_ = piece_;
      at_ = 0;
    }
    const std::size_t size = std::min(to.size(), text_.size() - at_);
    std::memcpy(to.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::string text_, piece_;
  std::size_t at_ = 0, left_;
};

TEST(RowStreamTest, FiftyMegabytesTakeTheMemoryOfAFewRows) {
  if (!AllocationCounter::supported()) GTEST_SKIP() << "allocations are not counted here";
  const std::size_t bytes = 50'000'000;
  const auto piece = [](const std::string& line) {
    std::string text;
    while (text.size() < 100'000) text += line;
    return text;
  };
  const std::vector<std::tuple<const char*, std::string, std::string>> streams{
      {"svmlight", "", "1 1:0.5 17:2 12:0.25 1999:1 123456:0.125 # some comment\n"},
      {"csv", "a,b,c,y\n", "1.5,\"a longer category, quoted\",NA,positive and longer than sixteen\n"},
      {"arff", "@attribute a real\n@attribute b string\n@attribute y {u,v}\n@data\n",
       "1.5,'a longer category, quoted',u\n{0 2.5, 2 v}\n"},
      {"jsonl", "",
       "{\"a\":1.5,\"b\":\"a longer category, quoted\",\"o\":{\"c\":null},\"label\":\"positive, longer than that\"}\n"},
      {"vw", "", "1 2 'a_tag_longer_than_sixteen|words some words:2 here |user age:0.5\n"}};
  for (const auto& [format, head, line] : streams) {
    auto reader = read_rows(std::make_unique<Repeated>(head, piece(line), bytes), "f", {.format = format});
    DataRow row;
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(reader->next(row));
    const AllocationCounter counter;
    std::size_t rows = 1'000;
    while (reader->next(row)) ++rows;
    EXPECT_GT(rows, 400'000u);
    EXPECT_LE(counter.count(), 8u) << reader->describe();
  }
}

}  // namespace
