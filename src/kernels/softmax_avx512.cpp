// Compiled for AVX-512 (F, VL, BW and DQ); nobody calls it where the processor lacks one of them.
#define OBOLUS_INSTRUCTIONS avx512_loops
#define OBOLUS_PACK 64
#include "kernels/softmax_instructions.hpp"

namespace obolus::kernels {
template <class S>
const Kernels<S>& avx512(Cut cut) {
  return avx512_loops::by_cut<S>(cut, "avx512");
}
template const Kernels<float>& avx512(Cut);
template const Kernels<double>& avx512(Cut);
}  // namespace obolus::kernels
