#define OBOLUS_INSTRUCTIONS portable_loops
#define OBOLUS_PACK 32
#include "kernels/softmax_instructions.hpp"

namespace obolus::kernels {
template <class S>
const Kernels<S>& portable(Cut cut) {
  return portable_loops::by_cut<S>(cut, "portable");
}
template const Kernels<float>& portable(Cut);
template const Kernels<double>& portable(Cut);
}  // namespace obolus::kernels
