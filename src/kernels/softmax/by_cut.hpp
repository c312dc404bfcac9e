// The kernels of one instruction set and one scalar, by the cut of the rows: see kernels/pack.hpp.
#pragma once

#include "kernels/softmax/kernels.hpp"
#include "kernels/softmax/loops.hpp"
#include "kernels/softmax/momentum.hpp"
#include "kernels/softmax/residuals.hpp"
#include "kernels/softmax/shrink.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

template <class S, int L, int Q>
constexpr Kernels<S> table() {
  return {name_of(Instructions::OBOLUS_INSTRUCTIONS),
          &begin<S, L, Q>,
          &forward<S, L, Q>,
          &backward<S, L, Q>,
          &finish<S, L, Q>,
          &finish_singles<S, L, Q>,
          &finish_multi<S, L, Q>,
          &residuals<S, L, Q>,
          &residuals_dual<S, L, Q>,
          &residuals_central<S, L, Q>,
          &residuals_system<S, L, Q>,
          &scale_slope<S, L, Q>,
          &shrink<S>,
          &products<S, L, Q>,
          &momentum_begin<S, L, Q>,
          &momentum_finish<S, L, Q>};
}

template <class S>
const Kernels<S>& by_cut(Cut cut) {
  static constexpr Kernels<S> tables[3][4] = {{table<S, -1, 0>(), table<S, 0, 1>(), table<S, 0, 2>(), table<S, 0, 3>()},
                                              {table<S, 1, 0>(), table<S, 1, 1>(), table<S, 1, 2>(), table<S, 1, 3>()},
                                              {table<S, 2, 0>(), table<S, 2, 1>(), table<S, 2, 2>(), table<S, 2, 3>()}};
  return cut.lines <= 2 ? tables[cut.lines][cut.quarters] : tables[0][0];
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
