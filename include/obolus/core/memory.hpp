// Cache-line-aligned memory; huge pages for large blocks, against TLB misses.
#pragma once

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace obolus {

[[nodiscard]] inline void* allocate_lines(std::size_t bytes) {
  constexpr std::size_t line = 64, page = std::size_t{2} << 20;
  if (bytes > std::numeric_limits<std::size_t>::max() - page) throw std::bad_alloc();
  const std::size_t unit = bytes >= page / 4 ? page : line;
  bytes = (bytes + unit - 1) / unit * unit;
  void* const memory = std::aligned_alloc(unit, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (unit == page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

// For containers.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators are
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_lines(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  bool operator==(const LineAllocator&) const = default;
};

}  // namespace obolus
