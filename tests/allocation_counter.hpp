// Counts what this thread allocates: the malloc family, hence `new` and Eigen too. Link allocation_counter.cpp.
#pragma once

#include <cstdint>

namespace obolus::test {

class AllocationCounter {
 public:
  AllocationCounter() : start_(total()) {}

  // Allocations by this thread since construction; always 0 where `supported()` is false.
  [[nodiscard]] std::uint64_t count() const { return total() - start_; }

  // False under sanitizers, whose runtimes own malloc, and where the C library is not glibc: skip the test there.
  [[nodiscard]] static bool supported();

 private:
  [[nodiscard]] static std::uint64_t total();
  std::uint64_t start_;
};

}  // namespace obolus::test
