#include "kernels/softmax_kernels.hpp"

#include <cstdlib>
#include <string_view>

namespace obolus::kernels {
namespace {

bool asked_for_portable() {
  const char* value = std::getenv("OBOLUS_KERNELS");
  return value != nullptr && std::string_view(value) == "portable";
}

}  // namespace

template <class S>
const Kernels<S>& best(int classes) {
  const int packs = stride_of<S>(classes) * static_cast<int>(sizeof(S)) / 32;
#ifdef OBOLUS_HAS_AVX2
  if (!asked_for_portable() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2<S>(packs);
#endif
  return portable<S>(packs);
}

template const Kernels<float>& best(int);
template const Kernels<double>& best(int);

}  // namespace obolus::kernels
