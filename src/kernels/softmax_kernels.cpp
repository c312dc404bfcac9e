#include "kernels/softmax_kernels.hpp"

#include <cstdlib>
#include <string_view>

namespace obolus::kernels {
namespace {

// Whether the environment asks for this one, or for none.
bool wanted(std::string_view name) {
  const char* value = std::getenv("OBOLUS_KERNELS");
  const std::string_view asked = value == nullptr ? "" : value;
  return asked == name || (asked != "portable" && asked != "avx2" && asked != "avx512");
}

}  // namespace

template <class S>
const Kernels<S>& best(int classes) {
  const Cut cut = cut_of<S>(classes);
#ifdef OBOLUS_HAS_X86
  if (wanted("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return avx512<S>(cut);
  if (wanted("avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2<S>(cut);
#endif
  return portable<S>(cut);
}

template const Kernels<float>& best(int);
template const Kernels<double>& best(int);

}  // namespace obolus::kernels
