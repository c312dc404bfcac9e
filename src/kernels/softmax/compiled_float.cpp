#include "kernels/softmax/by_cut.hpp"

template <>
const obolus::kernels::softmax::Kernels<float>&
obolus::kernels::softmax::compiled<float, obolus::kernels::Instructions::OBOLUS_INSTRUCTIONS>(Cut cut) {
  return OBOLUS_INSTRUCTIONS::by_cut<float>(cut);
}
