// MurmurHash64A (Appleby, public domain algorithm).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "data/rows/eight_bytes.hpp"

namespace obolus {

[[nodiscard]] inline std::uint64_t row_hash(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t m = 0xC6A4A7935BD1E995u;
  std::uint64_t h = seed ^ (text.size() * m), block = 0;
  const std::size_t whole = text.size() & ~std::size_t{7};
  for (std::size_t i = 0; i < whole; i += 8) {
    std::memcpy(&block, text.data() + i, 8);
    block *= m;
    h = (h ^ ((block ^ (block >> 47)) * m)) * m;
  }
  if (whole < text.size()) h = (h ^ few_bytes(text.data() + whole, text.size() - whole)) * m;
  h = (h ^ (h >> 47)) * m;
  return h ^ (h >> 47);
}

// The group's part of row_key, computed once for many features.
[[nodiscard]] inline std::uint64_t group_seed(std::string_view group) { return row_hash(group, 0); }

}  // namespace obolus
