#define OBOLUS_INSTRUCTIONS fit_portable_loops
#define OBOLUS_PACK 16
#include "kernels/fit_instructions.hpp"

namespace obolus::kernels {
template <class S>
const FitKernels<S>& fit_portable() {
  static constexpr FitKernels<S> kernels = fit_portable_loops::table<S>("portable");
  return kernels;
}
template const FitKernels<float>& fit_portable();
template const FitKernels<double>& fit_portable();
}  // namespace obolus::kernels
