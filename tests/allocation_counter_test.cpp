#include "tests/allocation_counter.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdlib>
#include <memory>
#include <thread>

namespace {

using obolus::test::AllocationCounter;

// A compiler may drop an allocation that has no visible effect.
void* volatile seen = nullptr;

class AllocationCounterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationCounter::supported()) GTEST_SKIP() << "allocations cannot be counted in this build";
  }
};

TEST_F(AllocationCounterTest, NothingIsCountedWhereNothingIsAllocated) {
  const AllocationCounter counter;
  EXPECT_EQ(counter.count(), 0u);
}

TEST_F(AllocationCounterTest, MallocCallocReallocAndAlignedAllocationsAreCounted) {
  const AllocationCounter counter;
  void* block = std::malloc(8);
  seen = block;
  EXPECT_EQ(counter.count(), 1u);
  block = std::realloc(block, 4096);
  seen = block;
  EXPECT_EQ(counter.count(), 2u);
  std::free(block);
  seen = block = std::calloc(2, 8);
  EXPECT_EQ(counter.count(), 3u);
  std::free(block);
  seen = block = std::aligned_alloc(64, 128);
  EXPECT_EQ(counter.count(), 4u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
  std::free(block);
  void* aligned = nullptr;
  ASSERT_EQ(posix_memalign(&aligned, 256, 8), 0);
  seen = aligned;
  EXPECT_EQ(counter.count(), 5u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 256, 0u);
  std::free(aligned);
}

TEST_F(AllocationCounterTest, NewAndEigenVectorsAreCounted) {
  const AllocationCounter counter;
  const auto number = std::make_unique<int>(3);
  seen = number.get();
  EXPECT_EQ(counter.count(), 1u);
  Eigen::VectorXf x = Eigen::VectorXf::Ones(5);
  seen = x.data();
  EXPECT_EQ(counter.count(), 2u);
}

TEST_F(AllocationCounterTest, AnotherThreadsAllocationsAreNotCounted) {
  std::uint64_t theirs = 0;
  std::uint64_t before = 0, after = 0;
  {
    const AllocationCounter counter;
    std::thread other([&] {
      const AllocationCounter inside;
      for (int i = 0; i < 1000; ++i) seen = std::make_unique<int>(i).get();
      theirs = inside.count();
    });
    before = counter.count();
    other.join();
    after = counter.count();
  }
  EXPECT_EQ(theirs, 1000u);
  EXPECT_EQ(after, before);  // starting a thread allocates, what it does afterwards is its own
}

}  // namespace
