#include "kernels/network_kernels.hpp"

#include "kernels/instructions.hpp"

namespace obolus::kernels {

template <class S>
const NetworkKernels<S>& network_kernels() {
#ifdef OBOLUS_HAS_X86
  if (instructions() == Instructions::avx512) return network_avx512<S>();
  if (instructions() == Instructions::avx2) return network_avx2<S>();
#endif
  return network_portable<S>();
}

template const NetworkKernels<float>& network_kernels();
template const NetworkKernels<double>& network_kernels();

}  // namespace obolus::kernels
