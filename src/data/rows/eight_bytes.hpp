// Reads text eight bytes at a time, never beyond its end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "obolus/core/to_size.hpp"

namespace obolus {

static_assert(std::endian::native == std::endian::little, "the first byte of a text is the lowest");

// Fewer than eight bytes, zeros above them; avoids the call to memcpy that an unknown size would need.
[[nodiscard]] inline std::uint64_t few_bytes(const char* at, std::size_t size) {
  if (size >= 4) {
    std::uint32_t low = 0, high = 0;  // they overlap, and agree there
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + size - 4, 4);
    return low | (static_cast<std::uint64_t>(high) << (8 * (size - 4)));
  }
  if (size == 0) return 0;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

[[nodiscard, gnu::noinline]] inline std::uint64_t last_bytes(const char* at, const char* end) {
  return few_bytes(at, to_size(end - at));
}

[[nodiscard]] inline std::uint64_t eight_bytes(const char* at, const char* end) {
  if (end - at < 8) return last_bytes(at, end);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, 8);
  return bytes;
}

// The position of the first of the bytes `c...`, or the end. None of them may be NUL.
template <class... Char>
[[nodiscard]] inline const char* find_byte(const char* at, const char* end, Char... c) {
  constexpr std::uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
  // The lowest top bit is that of the lowest byte which is zero; those above it may be wrong.
  const auto zeros = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes & tops; };
  for (; at < end; at += 8) {
    const std::uint64_t bytes = eight_bytes(at, end);
    if (const std::uint64_t found = (zeros(bytes ^ (ones * static_cast<unsigned char>(c))) | ...); found != 0)
      return at + std::countr_zero(found) / 8;
  }
  return end;
}

}  // namespace obolus
