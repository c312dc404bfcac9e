// The instruction sets the kernels are compiled for, and the one that runs here.
#pragma once

#include <cstdint>

namespace obolus::kernels {

enum class Instructions : std::uint8_t { portable, avx2, avx512 };

[[nodiscard]] consteval const char* name_of(Instructions set) {
  return set == Instructions::avx512 ? "avx512" : set == Instructions::avx2 ? "avx2" : "portable";
}

// The best the processor has; OBOLUS_KERNELS=portable or avx2 in the environment limits it.
[[nodiscard]] Instructions instructions();

}  // namespace obolus::kernels
