// A sparse matrix by rows, in the layout everybody calls CSR.
#pragma once

#include <cstdint>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

// Row i holds the entries start[i] … start[i + 1] − 1; its columns ascend.
struct SparseRows {
  Index columns = 0;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<float> value;

  [[nodiscard]] Index rows() const { return static_cast<Index>(start.size()) - 1; }
};

}  // namespace obolus
