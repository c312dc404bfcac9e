// Compiled with -mavx2 -mfma; nobody calls it where the processor has neither.
#define OBOLUS_INSTRUCTIONS avx2_loops
#define OBOLUS_PACK 32
#include "kernels/softmax_instructions.hpp"

namespace obolus::kernels {
template <class S>
const Kernels<S>& avx2(Cut cut) {
  return avx2_loops::by_cut<S>(cut, "avx2");
}
template const Kernels<float>& avx2(Cut);
template const Kernels<double>& avx2(Cut);
}  // namespace obolus::kernels
