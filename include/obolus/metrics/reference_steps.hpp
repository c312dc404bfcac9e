// How hypergradients are found where the inner problem is not convex.
#pragma once

#include <cstdint>

namespace obolus {

// Gradient steps from the committed y in place of a solution, and conjugate gradients on g_yy + damping. The result
// depends on all four numbers, most of all on the damping.
struct ReferenceSteps {
  std::int64_t steps = 0;  // 0: the inner problem is solved
  double alpha = 0.1;
  double damping = 0.1;
  std::int64_t products = 50;
};

}  // namespace obolus
