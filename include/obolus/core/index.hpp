// Indices and rounds, for headers that need no vectors: Eigen alone costs a file about a second.
#pragma once

#include <cstddef>
#include <cstdint>

#include "obolus/core/to_size.hpp"

namespace obolus {

using Index = std::ptrdiff_t;
using Round = std::int64_t;  // t = 1, 2, …

}  // namespace obolus
