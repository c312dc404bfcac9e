#include "kernels/instructions.hpp"

#include <cstdlib>
#include <string_view>

namespace obolus::kernels {

Instructions instructions() {
#ifdef OBOLUS_HAS_X86
  const char* value = std::getenv("OBOLUS_KERNELS");
  const std::string_view asked = value == nullptr ? "" : value;
  if (asked == "portable") return Instructions::portable;
  if (asked != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::portable;
}

}  // namespace obolus::kernels
