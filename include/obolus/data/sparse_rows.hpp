// A sparse matrix by rows (CSR).
#pragma once

#include <cstdint>
#include <vector>

#include "obolus/core/memory.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Row i holds the entries start[i] … start[i + 1] − 1; its columns ascend. On huge pages, because batches take rows in
// random order.
struct SparseRows {
  template <class T>
  using List = std::vector<T, LineAllocator<T>>;

  Index columns = 0;
  List<std::int64_t> start{0};
  List<std::int32_t> column;
  List<float> value;

  [[nodiscard]] Index rows() const { return static_cast<Index>(start.size()) - 1; }
};

}  // namespace obolus
