// The rows behind `softmax_l2`, by the name in its options.
#pragma once

#include "obolus/problems/softmax_pools.hpp"

namespace obolus {

[[nodiscard]] LabelledRows load_rows(const SoftmaxOptions& options, std::uint64_t seed);

}  // namespace obolus
