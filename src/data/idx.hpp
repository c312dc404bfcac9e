// IDX, the format of the MNIST files: two 0 bytes, the type of the numbers, the number of sizes, each size as four
// bytes (big-endian), then the numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/data/pictures.hpp"

namespace obolus {

struct IdxArray {
  std::vector<std::uint32_t> sizes;
  std::string_view numbers;  // unsigned bytes, within the bytes given
};

// Throws DataError unless the bytes are exactly one array of unsigned bytes. `where` names them in errors.
[[nodiscard]] IdxArray parse_idx(std::string_view bytes, const std::string& where);

struct NamedBytes {
  std::string name;
  std::string_view bytes;
};
[[nodiscard]] Pictures pictures_of_idx(const NamedBytes& pictures, const NamedBytes& labels, Index classes);

// Pictures and labels to train on, pictures and labels to test with.
inline constexpr std::array<std::string_view, 4> idx_names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
inline constexpr std::uint64_t max_idx_file = std::uint64_t{1} << 27;

}  // namespace obolus
