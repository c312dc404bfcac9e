// Everything for one instruction set, in the namespace OBOLUS_INSTRUCTIONS of whoever includes this. No name of the standard library is
// instantiated here: an inline function compiled for AVX2 might be linked elsewhere.
#include <cstddef>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/network_kernels.hpp"

namespace obolus::kernels::OBOLUS_INSTRUCTIONS {

#include "kernels/network_tangent.hpp"

template <class S>
constexpr NetworkKernels<S> table(const char* name) {
  return {name,     lanes<S>,    &prepare<S>, &forward<S>, &backward<S>, &tangent<S>, &tangent_backward<S>,
          &sums<S>, &collect<S>, &multiply<S>};
}

}  // namespace obolus::kernels::OBOLUS_INSTRUCTIONS
