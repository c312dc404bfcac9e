// MurmurHash3 of 32 bits (Appleby, public domain algorithm) with seed 0, as scikit-learn's hashing takes it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace obolus {

[[nodiscard]] inline std::uint32_t term_hash(std::string_view term) {
  static_assert(std::endian::native == std::endian::little, "blocks are read as they stand in memory");
  const auto scrambled = [](std::uint32_t k) { return std::rotl(k * 0xCC9E2D51u, 15) * 0x1B873593u; };
  const std::size_t whole = term.size() & ~std::size_t{3};
  std::uint32_t h = 0, block = 0;
  for (std::size_t i = 0; i < whole; i += 4) {
    std::memcpy(&block, term.data() + i, 4);
    h = std::rotl(h ^ scrambled(block), 13) * 5 + 0xE6546B64u;
  }
  block = 0;
  if (whole < term.size()) std::memcpy(&block, term.data() + whole, term.size() - whole);
  h ^= scrambled(block);  // of 0 is 0
  h ^= static_cast<std::uint32_t>(term.size());
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

}  // namespace obolus
