#include "kernels/softmax_kernels.hpp"

#include <cstdlib>
#include <string_view>

namespace obolus::kernels {
namespace {

std::string_view asked_for() {
  const char* value = std::getenv("OBOLUS_KERNELS");
  return value == nullptr ? "" : value;
}

}  // namespace

template <class S>
const Kernels<S>& best(int classes) {
  const Cut cut = cut_of<S>(classes);
#ifdef OBOLUS_HAS_X86
  const std::string_view asked = asked_for();
  if (asked != "portable" && asked != "avx2" && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return avx512<S>(cut);
  if (asked != "portable" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2<S>(cut);
#endif
  return portable<S>(cut);
}

template const Kernels<float>& best(int);
template const Kernels<double>& best(int);

}  // namespace obolus::kernels
