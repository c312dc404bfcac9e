// Everything for one instruction set, in the namespace OBOLUS_INSTRUCTIONS of whoever includes this. No name of the standard library is
// instantiated here: an inline function compiled for AVX2 might be linked elsewhere.
#include <cstddef>

#include "kernels/fit_kernels.hpp"

namespace obolus::kernels::OBOLUS_INSTRUCTIONS {

#include "kernels/fit_loops.hpp"

template <class S>
constexpr FitKernels<S> table(const char* name) {
  return {name,
          &gather<S>,
          &scatter<S>,
          &decay<S>,
          &product<S>,
          &gram<S>,
          &residuals_softmax<S>,
          &residuals_logistic<S>,
          &residuals_squared<S>,
          &step<S>};
}

}  // namespace obolus::kernels::OBOLUS_INSTRUCTIONS
