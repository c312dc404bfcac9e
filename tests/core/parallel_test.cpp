#include "obolus/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

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
      std::vector<std::atomic<int>> done(to_size(chunks));
      pool.run(chunks, [&](Index i) { ++done[to_size(i)]; });
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
      for (std::size_t i = 0; i < 100; ++i) values[to_size(chunk) * 100 + i] = call + std::sqrt(double(i));
    });
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], call + std::sqrt(double(i % 100)));
  }
}

TEST(ThreadPool, ATaskAsideIsDoneOnceWhateverRunsBesideIt) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    int done = 0;
    const auto task = [&] { ++done; };
    for (int call = 1; call <= 2000; ++call) {
      std::atomic<Index> sum{0};
      if (call % 3 == 0) pool.run(2, [&](Index i) { i == 0 ? pool.start(task) : void(++sum); });
      else pool.start(task);
      for (int loop = 0; loop < call % 4; ++loop) pool.run(5, [&](Index i) { sum += i; });
      pool.finish();
      ASSERT_EQ(done, call) << threads << " threads";
      ASSERT_EQ(sum.load(), 10 * (call % 4) + (call % 3 == 0 ? 1 : 0));
    }
  }
}

// Loops run without the thread that is busy with it.
TEST(ThreadPool, NoLoopWaitsForABackgroundTask) {
  ThreadPool pool(2);
  std::atomic<bool> begun{false}, may_end{false};
  const auto task = [&] {
    begun = true;
    while (!may_end) std::this_thread::yield();
  };
  pool.start(task);
  while (!begun) std::this_thread::yield();
  std::atomic<Index> sum{0};
  for (int call = 0; call < 10; ++call) pool.run(4, [&](Index i) { sum += i; });
  EXPECT_EQ(sum.load(), 60);
  may_end = true;
  pool.finish();
}

TEST(ThreadPool, ATaskAsideIsDoneBeforeThePoolEndsAndBeforeTheNext) {
  std::atomic<int> done{0};
  const auto task = [&] { ++done; };
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(2);
    pool.start(task);
    pool.start(task);
    EXPECT_GE(done.load(), 2 * i + 1);
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(ThreadPool, AnUnusedPoolEndsAtOnce) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, RunningAllocatesNothing) {
  if (!test::AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  ThreadPool pool(2);
  std::atomic<Index> sum{0};
  const test::AllocationCounter counter;
  const auto task = [&] { sum += 1; };
  for (int i = 0; i < 100; ++i) {
    pool.start(task);
    pool.run(8, [&](Index chunk) { sum += chunk; });
  }
  pool.finish();
  EXPECT_EQ(counter.count(), 0u);
  EXPECT_EQ(sum.load(), 2900);
}

}  // namespace
