// The rows behind `softmax_l2`, by the name in its options.
#pragma once

#include <memory>

#include "obolus/problems/softmax_pools.hpp"

namespace obolus {

// Real data are read and weighed once for all problems alive that use them alike.
[[nodiscard]] std::shared_ptr<const LabelledRows> load_rows(const SoftmaxOptions& options, std::uint64_t seed);

// The data, when the kernels can rely on them: labels below the number of classes, columns in ascending order. Throws
// DataError.
[[nodiscard]] std::shared_ptr<const LabelledRows> require_valid(std::shared_ptr<const LabelledRows> data);

}  // namespace obolus
