#define OBOLUS_INSTRUCTIONS network_portable_loops
#define OBOLUS_PACK 32
#include "kernels/network_instructions.hpp"

namespace obolus::kernels {
template <class S>
const NetworkKernels<S>& network_portable() {
  static constexpr NetworkKernels<S> kernels = network_portable_loops::table<S>("portable");
  return kernels;
}
template const NetworkKernels<float>& network_portable();
template const NetworkKernels<double>& network_portable();
}  // namespace obolus::kernels
