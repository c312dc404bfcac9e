#pragma once

#include <vector>

#include "kernels/instructions.hpp"

namespace obolus::kernels {

// The instruction sets that run here, the portable one first.
inline std::vector<Instructions> instruction_sets() {
  std::vector<Instructions> sets;
  for (const Instructions set : {Instructions::portable, Instructions::avx2, Instructions::avx512})
    if (set <= instructions()) sets.push_back(set);
  return sets;
}

}  // namespace obolus::kernels
