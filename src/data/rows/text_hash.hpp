// For maps from names that are looked up by views of text.
#pragma once

#include <cstddef>
#include <string_view>

#include "data/rows/row_hash.hpp"

namespace obolus {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return row_hash(text, 0); }
};

}  // namespace obolus
