#define OBOLUS_INSTRUCTIONS fit_avx2_loops
#define OBOLUS_PACK 32
#include "kernels/fit_instructions.hpp"

namespace obolus::kernels {
template <class S>
const FitKernels<S>& fit_avx2() {
  static constexpr FitKernels<S> kernels = fit_avx2_loops::table<S>("avx2");
  return kernels;
}
template const FitKernels<float>& fit_avx2();
template const FitKernels<double>& fit_avx2();
}  // namespace obolus::kernels
