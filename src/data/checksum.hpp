// FNV-1a, against accidents: a damaged checkpoint, a data file that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "obolus/core/to_size.hpp"

namespace obolus {

[[nodiscard]] inline std::uint64_t checksum(const void* data, std::size_t size,
                                            std::uint64_t so_far = 0xcbf29ce484222325u) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) so_far = (so_far ^ bytes[i]) * 0x100000001b3u;
  return so_far;
}

// 0 for a file that cannot be read: whoever reads it in earnest says so.
[[nodiscard]] inline std::uint64_t file_checksum(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t sum = checksum(nullptr, 0);
  char chunk[1 << 14];
  while (file.read(chunk, sizeof chunk) || file.gcount() > 0) sum = checksum(chunk, to_size(file.gcount()), sum);
  return file.eof() ? sum : 0;
}

}  // namespace obolus
