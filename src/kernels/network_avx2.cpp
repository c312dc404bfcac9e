#define OBOLUS_INSTRUCTIONS network_avx2_loops
#define OBOLUS_PACK 32
#include "kernels/network_instructions.hpp"

namespace obolus::kernels {
template <class S>
const NetworkKernels<S>& network_avx2() {
  static constexpr NetworkKernels<S> kernels = network_avx2_loops::table<S>("avx2");
  return kernels;
}
template const NetworkKernels<float>& network_avx2();
template const NetworkKernels<double>& network_avx2();
}  // namespace obolus::kernels
