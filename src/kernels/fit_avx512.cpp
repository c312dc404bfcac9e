#define OBOLUS_INSTRUCTIONS fit_avx512_loops
#define OBOLUS_PACK 64
#include "kernels/fit_instructions.hpp"

namespace obolus::kernels {
template <class S>
const FitKernels<S>& fit_avx512() {
  static constexpr FitKernels<S> kernels = fit_avx512_loops::table<S>("avx512");
  return kernels;
}
template const FitKernels<float>& fit_avx512();
template const FitKernels<double>& fit_avx512();
}  // namespace obolus::kernels
