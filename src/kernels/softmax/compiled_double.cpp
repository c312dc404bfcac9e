#include "kernels/softmax/by_cut.hpp"

template <>
const obolus::kernels::softmax::Kernels<double>&
obolus::kernels::softmax::compiled<double, obolus::kernels::Instructions::OBOLUS_INSTRUCTIONS>(Cut cut) {
  return OBOLUS_INSTRUCTIONS::by_cut<double>(cut);
}
