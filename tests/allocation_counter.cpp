#include "tests/allocation_counter.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OBOLUS_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OBOLUS_COUNTS_ALLOCATIONS 0
#endif
#endif
#if !defined(OBOLUS_COUNTS_ALLOCATIONS)
#if defined(__GLIBC__)
#define OBOLUS_COUNTS_ALLOCATIONS 1
#else
#define OBOLUS_COUNTS_ALLOCATIONS 0
#endif
#endif

namespace {
// In the executable itself this is initial-exec TLS: reading it allocates nothing.
thread_local std::uint64_t allocations = 0;
}  // namespace

namespace obolus::test {
bool AllocationCounter::supported() { return OBOLUS_COUNTS_ALLOCATIONS != 0; }
std::uint64_t AllocationCounter::total() { return allocations; }
}  // namespace obolus::test

#if OBOLUS_COUNTS_ALLOCATIONS
// The executable's definitions take the place of glibc's everywhere; `free` stays glibc's and knows these blocks.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  ++allocations;
  void* block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
}
#endif
