// Everything for one instruction set, in the namespace OBOLUS_INSTRUCTIONS of whoever includes this.
#include <cstddef>

#include "kernels/softmax_kernels.hpp"

namespace obolus::kernels::OBOLUS_INSTRUCTIONS {

#include "kernels/softmax_loops.hpp"
#include "kernels/softmax_residuals.hpp"
#include "kernels/softmax_shrink.hpp"

template <class S, int L, int Q>
constexpr Kernels<S> table(const char* name) {
  return {name,
          &begin<S, L, Q>,
          &forward<S, L, Q>,
          &backward<S, L, Q>,
          &finish<S, L, Q>,
          &finish_singles<S, L, Q>,
          &finish_multi<S, L, Q>,
          &residuals<S, L, Q>,
          &residuals_dual<S, L, Q>,
          &residuals_central<S, L, Q>,
          &scale_slope<S, L, Q>,
          &shrink<S>,
          &products<S, L, Q>};
}

template <class S>
const Kernels<S>& by_cut(Cut cut, const char* name) {
  static const Kernels<S> tables[3][4] = {
      {table<S, -1, 0>(name), table<S, 0, 1>(name), table<S, 0, 2>(name), table<S, 0, 3>(name)},
      {table<S, 1, 0>(name), table<S, 1, 1>(name), table<S, 1, 2>(name), table<S, 1, 3>(name)},
      {table<S, 2, 0>(name), table<S, 2, 1>(name), table<S, 2, 2>(name), table<S, 2, 3>(name)}};
  return cut.lines <= 2 ? tables[cut.lines][cut.quarters] : tables[0][0];
}

}  // namespace obolus::kernels::OBOLUS_INSTRUCTIONS
