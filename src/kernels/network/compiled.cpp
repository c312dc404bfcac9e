// Compiled once per instruction set: see kernels/pack.hpp.
#include "kernels/network/kernels.hpp"
#include "kernels/network/tangent.hpp"
#include "kernels/network/weights.hpp"
#include "kernels/network/winograd.hpp"

namespace obolus::kernels::network {
namespace OBOLUS_INSTRUCTIONS {

template <class S>
constexpr Kernels<S> table = {name_of(Instructions::OBOLUS_INSTRUCTIONS),
                              lanes<S>,
                              &prepare<S>,
                              &forward<S>,
                              &backward<S>,
                              &tangent<S>,
                              &tangent_backward<S>,
                              &sums<S>,
                              &collect<S>,
                              &multiply<S>};

}  // namespace OBOLUS_INSTRUCTIONS

template <>
const Kernels<float>& compiled<float, Instructions::OBOLUS_INSTRUCTIONS>() {
  return OBOLUS_INSTRUCTIONS::table<float>;
}
template <>
const Kernels<double>& compiled<double, Instructions::OBOLUS_INSTRUCTIONS>() {
  return OBOLUS_INSTRUCTIONS::table<double>;
}

}  // namespace obolus::kernels::network
