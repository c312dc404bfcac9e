// Everything for one instruction set, in the namespace OBOLUS_INSTRUCTIONS of whoever includes this.
#include <cstddef>

#include "kernels/softmax_kernels.hpp"

namespace obolus::kernels::OBOLUS_INSTRUCTIONS {

#include "kernels/softmax_loops.hpp"
#include "kernels/softmax_residuals.hpp"

template <class S, int N>
constexpr Kernels<S> table(const char* name) {
  return {name,
          &begin<S, N>,
          &forward<S, N>,
          &backward<S, N>,
          &finish<S, N>,
          &finish_singles<S, N>,
          &finish_multi<S, N>,
          &residuals<S, N>,
          &residuals_dual<S, N>,
          &residuals_central<S, N>,
          &scale_slope<S, N>,
          &shrink<S>,
          &products<S, N>};
}

template <class S>
const Kernels<S>& by_packs(int packs, const char* name) {
  static const Kernels<S> tables[] = {table<S, 0>(name), table<S, 1>(name), table<S, 2>(name), table<S, 3>(name),
                                      table<S, 4>(name), table<S, 5>(name), table<S, 6>(name)};
  return tables[packs <= 6 ? packs : 0];
}

}  // namespace obolus::kernels::OBOLUS_INSTRUCTIONS
