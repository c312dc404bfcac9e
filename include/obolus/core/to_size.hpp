// Signed indices and counts where the standard library wants std::size_t.
#pragma once

#include <cstddef>

#include "obolus/core/to_size.hpp"

namespace obolus {

template <class Number>
[[nodiscard]] constexpr std::size_t to_size(Number n) {
  return to_size(n);
}

}  // namespace obolus
