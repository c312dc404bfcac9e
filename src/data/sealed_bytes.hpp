// Bytes in a file with a header that says what they are, how many, and their checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace obolus {

enum class SealFault : std::uint8_t { none, another_file, another_version, damaged };

struct Unsealed {
  SealFault fault = SealFault::none;
  std::uint32_t version = 0;
  std::span<const std::byte> bytes;  // within the content
};

// `magic` has eight characters.
[[nodiscard]] std::string sealed(std::string_view magic, std::uint32_t version, std::span<const std::byte> bytes);
// Of these versions, the first and the last.
[[nodiscard]] Unsealed unsealed(std::string_view content, std::string_view magic, std::uint32_t oldest,
                                std::uint32_t newest);

}  // namespace obolus
