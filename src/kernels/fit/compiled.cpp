// Compiled once per instruction set: see kernels/pack.hpp.
#include "kernels/fit/kernels.hpp"
#include "kernels/fit/loops.hpp"

namespace obolus::kernels::fit {
namespace OBOLUS_INSTRUCTIONS {

template <class S>
constexpr Kernels<S> table = {name_of(Instructions::OBOLUS_INSTRUCTIONS),
                              &gather<S>,
                              &decay<S>,
                              &product<S>,
                              &add_line<S>,
                              &absorb<S>,
                              &residuals_softmax<S>,
                              &residuals_logistic<S>,
                              &residuals_squared<S>,
                              &step<S>};

}  // namespace OBOLUS_INSTRUCTIONS

template <>
const Kernels<float>& compiled<float, Instructions::OBOLUS_INSTRUCTIONS>() {
  return OBOLUS_INSTRUCTIONS::table<float>;
}
template <>
const Kernels<double>& compiled<double, Instructions::OBOLUS_INSTRUCTIONS>() {
  return OBOLUS_INSTRUCTIONS::table<double>;
}

}  // namespace obolus::kernels::fit
