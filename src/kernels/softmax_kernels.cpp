#include "kernels/softmax_kernels.hpp"

#include "kernels/instructions.hpp"

namespace obolus::kernels {

template <class S>
const Kernels<S>& best(int classes) {
  const Cut cut = cut_of<S>(classes);
#ifdef OBOLUS_HAS_X86
  if (instructions() == Instructions::avx512) return avx512<S>(cut);
  if (instructions() == Instructions::avx2) return avx2<S>(cut);
#endif
  return portable<S>(cut);
}

template const Kernels<float>& best(int);
template const Kernels<double>& best(int);

}  // namespace obolus::kernels
