#include "serve/left_right.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace obolus::serve {
namespace {

TEST(LeftRight, ReadersSeeWholeStatesThatNeverGoBack) {
  struct Pair {
    int one = 0, other = 0;
  };
  constexpr int changes = 2'000;
  LeftRight<Pair> pair({}, {});
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0, back = 0;
  const auto look = [&] {
    for (int last = 0; !done;) {
      const auto seen = pair.read();
      torn += seen->one != seen->other;
      back += seen->one < last;
      last = seen->one;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(look);
  for (int i = 1; i <= changes; ++i) {
    pair.hidden() = {i, i};
    pair.swap();
    pair.hidden() = {i, i};
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(back, 0);
  EXPECT_EQ(pair.read()->one, changes);
}

TEST(LeftRight, AReaderHoldsWhatItReads) {
  LeftRight<int> number(1, 1);
  std::atomic<bool> swapped = false;
  std::thread writer;
  {
    const auto seen = number.read();
    number.hidden() = 2;
    writer = std::thread([&] {
      number.swap();
      swapped = true;
      number.hidden() = 2;
    });
    while (*number.read() != 2) std::this_thread::yield();  // another reader sees the new state at once
    EXPECT_EQ(*seen, 1);
    EXPECT_FALSE(swapped);
  }
  writer.join();
  EXPECT_EQ(*number.read(), 2);
}

}  // namespace
}  // namespace obolus::serve
