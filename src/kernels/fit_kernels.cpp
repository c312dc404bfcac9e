#include "kernels/fit_kernels.hpp"

#include "kernels/instructions.hpp"

namespace obolus::kernels {

template <class S>
const FitKernels<S>& fit_kernels() {
#ifdef OBOLUS_HAS_X86
  if (instructions() == Instructions::avx512) return fit_avx512<S>();
  if (instructions() == Instructions::avx2) return fit_avx2<S>();
#endif
  return fit_portable<S>();
}

template const FitKernels<float>& fit_kernels();
template const FitKernels<double>& fit_kernels();

}  // namespace obolus::kernels
