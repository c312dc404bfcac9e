#include "obolus/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "tests/allocation_counter.hpp"

namespace {

using namespace obolus;

TEST(ThreadPool, HasTheThreadsAskedForTheCallerAmongThem) {
  EXPECT_EQ(ThreadPool(1).threads(), 1);
  EXPECT_EQ(ThreadPool(3).threads(), 3);
  EXPECT_EQ(ThreadPool(0).threads(), 1);
}

TEST(ThreadPool, EveryChunkIsDoneOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (const Index chunks : {Index{0}, Index{1}, Index{2}, Index{3}, Index{100}}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(chunks));
      pool.run(chunks, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
      for (const auto& times : done) EXPECT_EQ(times.load(), 1) << threads << " threads, " << chunks << " chunks";
    }
  }
}

// Many short calls in a row: a worker that is late for one must not disturb the next.
TEST(ThreadPool, CallsFollowEachOtherWithoutMixing) {
  ThreadPool pool(3);
  for (int call = 0; call < 5000; ++call) {
    const Index chunks = 1 + call % 7;
    std::atomic<Index> sum{0};
    pool.run(chunks, [&](Index i) { sum += i + 1; });
    ASSERT_EQ(sum.load(), chunks * (chunks + 1) / 2) << "call " << call;
  }
}

TEST(ThreadPool, WhatChunksWriteIsSeenByTheCaller) {
  ThreadPool pool(2);
  std::vector<double> values(1000);
  for (int call = 1; call <= 50; ++call) {
    pool.run(10, [&](Index chunk) {
      for (std::size_t i = 0; i < 100; ++i)
        values[static_cast<std::size_t>(chunk) * 100 + i] = call + std::sqrt(double(i));
    });
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], call + std::sqrt(double(i % 100)));
  }
}

TEST(ThreadPool, AnUnusedPoolEndsAtOnce) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, RunningAllocatesNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  ThreadPool pool(2);
  std::atomic<Index> sum{0};
  const test::AllocationCounter counter;
  for (int i = 0; i < 100; ++i) pool.run(8, [&](Index chunk) { sum += chunk; });
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_EQ(sum.load(), 2800);
}

}  // namespace
