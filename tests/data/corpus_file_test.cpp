#include "data/corpus_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "data/checksum.hpp"
#include "obolus/core/error.hpp"
#include "tests/data/fixture.hpp"

namespace {

using namespace obolus;
using test::tokenised;

constexpr std::size_t checksum_at = 22, body_at = 30;

// As somebody would who means it.
std::string with_checksum_mended(std::string bytes) {
  const std::uint64_t sum = checksum(bytes.data() + body_at, bytes.size() - body_at);
  std::memcpy(bytes.data() + checksum_at, &sum, 8);
  return bytes;
}

std::string refusal(const std::string& bytes) {
  try {
    (void)corpus_of_bytes(bytes, "here");
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(CorpusFileTest, WhatIsReadIsWhatWasWritten) {
  for (const std::string name : {"latin1", "utf8"})
    EXPECT_EQ(corpus_of_bytes(to_bytes(tokenised(name)), "here"), tokenised(name));
  TokenisedCorpus empty;
  empty.classes = {"none"};
  EXPECT_EQ(corpus_of_bytes(to_bytes(empty), "here"), empty);
}

TEST(CorpusFileTest, AFileIsMadeWithItsFolder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("obolus-corpus-" + std::to_string(getpid()));
  const std::string path = (folder / "deep" / "a.corpus").string();
  save_corpus(path, tokenised("utf8"));
  EXPECT_EQ(load_corpus(path), tokenised("utf8"));
  std::filesystem::remove_all(folder);
  EXPECT_THROW((void)load_corpus(path), DataError);
}

TEST(CorpusFileTest, EveryDamagedByteIsNoticed) {
  const std::string whole = to_bytes(tokenised("latin1"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(refusal(damaged), "accepted") << "byte " << i;
    EXPECT_NE(refusal(whole.substr(0, i)), "accepted") << "cut at " << i;
  }
  EXPECT_NE(refusal(whole + "x"), "accepted");
}

// Under the sanitizers this says that nothing is read beyond the bytes, whatever they say.
TEST(CorpusFileTest, LiesBehindAGoodChecksumDoNoHarm) {
  const std::string whole = to_bytes(tokenised("utf8"));
  for (std::size_t i = body_at; i < whole.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(value);
      (void)refusal(with_checksum_mended(damaged));
      (void)refusal(with_checksum_mended(damaged.substr(0, i + 1)));
    }
  }
}

TEST(CorpusFileTest, SaysWhatIsWrong) {
  std::string bytes = to_bytes(tokenised("utf8"));
  EXPECT_EQ(refusal("PK"), "here: not an Obolus corpus");
  bytes[14] = 9;
  EXPECT_EQ(refusal(bytes), "here: a corpus of version 9, expected version 1");
  bytes[14] = 1;
  EXPECT_EQ(refusal(with_checksum_mended(bytes + "x")), "here: damaged: there are bytes after the end");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(refusal(bytes), "here: damaged: its checksum is wrong");
}

}  // namespace
