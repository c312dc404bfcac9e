#include "data/journal/journal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/durable_file.hpp"
#include "data/rows/open_rows.hpp"
#include "obolus/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace obolus {
namespace {

constexpr std::uint64_t cap = 1 << 20;

struct Kept {
  std::int64_t first, rows;
  std::string lines;
  friend bool operator==(const Kept&, const Kept&) = default;
};

class Journal : public ::testing::Test {
 protected:
  void write(const std::vector<Kept>& records) {
    JournalWriter writer(path_, JournalStart{7, 42});
    for (const Kept& r : records) {
      writer.add({r.first, r.rows, r.lines});
      writer.write();
      writer.sync();
      writer.settle();
    }
  }
  [[nodiscard]] std::vector<Kept> read() const {
    JournalReader reader(file_bytes(path_), path_);
    EXPECT_EQ(reader.start(), (JournalStart{7, 42}));
    std::vector<Kept> found;
    for (JournalRecord r; reader.next(r);) found.push_back({r.first, r.rows, std::string(r.lines)});
    return found;
  }
  [[nodiscard]] std::string bytes() const { return read_whole_file(path_, cap); }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("journal");
  const std::vector<Kept> three_{{7, 2, "{\"a\":1,\"y\":\"p\"}\n{\"a\":2,\"y\":\"n\"}\n"},
                                 {9, 1, "{\"a\":3,\"y\":\"p\"}\n"},
                                 {10, 1, "{\"y\":\"n\"}\n"}};
};

TEST_F(Journal, GivesBackWhatWasAdded) {
  write(three_);
  EXPECT_EQ(read(), three_);
}

TEST_F(Journal, CutAnywhereGivesTheRecordsBeforeTheCut) {
  write(three_);
  const std::string whole = bytes();
  std::size_t before = 0;
  constexpr std::size_t head = 40;
  for (std::size_t size = head; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    const std::vector<Kept> found = read();
    ASSERT_LE(found.size(), three_.size() - 1);
    ASSERT_GE(found.size(), before);
    before = found.size();
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], three_[i]);
  }
  EXPECT_EQ(before, 2U);
}

TEST_F(Journal, ADamagedLastRecordIsTornOffAndAnEarlierOneIsRefused) {
  write(three_);
  const std::string whole = bytes();
  std::size_t refused = 0, torn = 0;
  constexpr std::size_t head = 40;
  for (std::size_t i = head; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    put(damaged);
    try {
      const std::vector<Kept> found = read();
      ASSERT_EQ(found.size(), 2U) << "at byte " << i;  // no crash takes what a later record knows to be synced
      ++torn;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(torn, 0U);
}

TEST_F(Journal, WhatWasNotSettledIsCutBack) {
  JournalWriter writer(path_, JournalStart{7, 42});
  writer.add({7, 2, three_[0].lines});
  writer.write();
  writer.settle();
  writer.add({9, 1, three_[1].lines});
  writer.write();
  writer.cut_back();
  EXPECT_EQ(read(), std::vector<Kept>{three_[0]});
}

TEST_F(Journal, GoesOnBehindTheGoodBytes) {
  write({three_[0], three_[1]});
  const std::size_t good = bytes().size();
  put(bytes() + "torn");
  {
    JournalWriter writer(path_, good);
    writer.add({10, 1, three_[2].lines});
    writer.write();
    writer.sync();
  }
  EXPECT_EQ(read(), three_);
}

TEST_F(Journal, IsReadAsRows) {
  write(three_);
  RowOptions options;
  options.label = "y";
  const auto rows = open_rows(path_, options);
  std::string labels;
  for (DataRow row; rows->next(row);) labels += row.label;
  EXPECT_EQ(labels, "pnpn");
}

TEST_F(Journal, RefusesAnotherKindOfFile) {
  put("{\"a\": 1}\n");
  EXPECT_THROW((void)read(), DataError);
}

}  // namespace
}  // namespace obolus
