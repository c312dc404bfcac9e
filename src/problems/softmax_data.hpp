// The rows behind `softmax_l2`, by the name in its options.
#pragma once

#include <memory>

#include "obolus/problems/softmax_pools.hpp"

namespace obolus {

// Real data are read and weighed once for all problems alive that use them alike.
[[nodiscard]] std::shared_ptr<const LabelledRows> load_rows(const SoftmaxOptions& options, std::uint64_t seed);

}  // namespace obolus
