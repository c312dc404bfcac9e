// Compiled with -mavx2 -mfma; nobody calls it where the processor has neither.
#define OBOLUS_INSTRUCTIONS avx2_loops
#include "kernels/softmax_instructions.hpp"

namespace obolus::kernels {
template <class S>
const Kernels<S>& avx2(int packs) {
  return avx2_loops::by_packs<S>(packs, "avx2");
}
template const Kernels<float>& avx2(int);
template const Kernels<double>& avx2(int);
}  // namespace obolus::kernels
