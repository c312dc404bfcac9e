// Rows of a sparse matrix, as every reader makes them and every kernel takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

// Compressed rows: entries start[i] … start[i + 1] − 1 are row i's, their columns ascending.
struct SparseRows {
  Index columns = 0;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<float> value;

  [[nodiscard]] Index rows() const { return static_cast<Index>(start.size()) - 1; }
};

}  // namespace obolus
