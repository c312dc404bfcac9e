// Signed indices and counts where the standard library wants std::size_t.
#pragma once

#include <cstddef>

namespace obolus {

template <class Number>
[[nodiscard]] constexpr std::size_t to_size(Number n) {
  return static_cast<std::size_t>(n);
}

}  // namespace obolus
