#define OBOLUS_INSTRUCTIONS network_avx512_loops
#define OBOLUS_PACK 64
#include "kernels/network_instructions.hpp"

namespace obolus::kernels {
template <class S>
const NetworkKernels<S>& network_avx512() {
  static constexpr NetworkKernels<S> kernels = network_avx512_loops::table<S>("avx512");
  return kernels;
}
template const NetworkKernels<float>& network_avx512();
template const NetworkKernels<double>& network_avx512();
}  // namespace obolus::kernels
