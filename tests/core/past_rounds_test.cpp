#include "obolus/core/past_rounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace obolus;

struct Recorder {
  std::vector<Round> seen;
  void reveal(Round t) { seen.push_back(t); }
};

TEST(PastRounds, LooksBackAsFarAsTheWindowAndComesBack) {
  Recorder stream;
  std::vector<std::int64_t> ages;
  PastRounds<Recorder>(stream, 10, 3).each([&](std::int64_t age) { ages.push_back(age); });
  EXPECT_EQ(ages, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(stream.seen, (std::vector<Round>{9, 8, 10}));
}

TEST(PastRounds, LooksAtTheOldestFirstAndEndsWithTheCurrentOne) {
  Recorder stream;
  std::vector<std::int64_t> ages;
  PastRounds<Recorder>(stream, 10, 3).each_oldest_first([&](std::int64_t age) { ages.push_back(age); });
  EXPECT_EQ(ages, (std::vector<std::int64_t>{2, 1, 0}));
  EXPECT_EQ(stream.seen, (std::vector<Round>{8, 9, 10}));
}

TEST(PastRounds, NothingLiesBeforeTheFirstRound) {
  Recorder stream;
  int looks = 0;
  PastRounds<Recorder>(stream, 2, 50).each([&](std::int64_t) { ++looks; });
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(stream.seen, (std::vector<Round>{1, 2}));
}

TEST(PastRounds, AWindowOfOneRevealsNothing) {
  Recorder stream;
  PastRounds<Recorder>(stream, 7, 1).each([](std::int64_t) {});
  PastRounds<Recorder>(stream, 7, 1).each_oldest_first([](std::int64_t) {});
  EXPECT_TRUE(stream.seen.empty());
}

}  // namespace
