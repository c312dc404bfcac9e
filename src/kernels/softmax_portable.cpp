#define OBOLUS_INSTRUCTIONS portable_loops
#include "kernels/softmax_instructions.hpp"

namespace obolus::kernels {
template <class S>
const Kernels<S>& portable(int packs) {
  return portable_loops::by_packs<S>(packs, "portable");
}
template const Kernels<float>& portable(int);
template const Kernels<double>& portable(int);
}  // namespace obolus::kernels
