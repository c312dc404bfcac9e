// Which of the kernels' compilations runs here.
#pragma once

#include <cstdint>

namespace obolus::kernels {

enum class Instructions : std::uint8_t { portable, avx2, avx512 };

// The most the processor has; OBOLUS_KERNELS=portable or avx2 asks for less.
[[nodiscard]] Instructions instructions();

}  // namespace obolus::kernels
