// Packs of numbers for one instruction set. Kernels are compiled once per set, with OBOLUS_INSTRUCTIONS, its name in
// Instructions, and OBOLUS_PACK, the bytes of its registers. All that is compiled lives in a namespace of that name:
// nothing may be shared between instruction sets, and nothing of the standard library is instantiated, since the linker
// might take an inline function compiled for AVX2 for all others of its name.
#pragma once

#define OBOLUS_INLINE static inline __attribute__((always_inline))

namespace obolus::kernels::OBOLUS_INSTRUCTIONS {

// NOLINTBEGIN(modernize-use-using): attributes of vectors go with typedef only
template <class S>
struct PackOf;
template <>
struct PackOf<float> {
  typedef float wide __attribute__((vector_size(OBOLUS_PACK), aligned(4), may_alias));
  typedef float narrow __attribute__((vector_size(16), aligned(4), may_alias));
  typedef float two_narrow __attribute__((vector_size(32), aligned(4), may_alias));
  typedef int whole __attribute__((vector_size(OBOLUS_PACK)));  // as many whole numbers
};
template <>
struct PackOf<double> {
  typedef double wide __attribute__((vector_size(OBOLUS_PACK), aligned(8), may_alias));
  typedef double narrow __attribute__((vector_size(16), aligned(8), may_alias));
  typedef double two_narrow __attribute__((vector_size(32), aligned(8), may_alias));
  typedef long long whole __attribute__((vector_size(OBOLUS_PACK)));
};
// NOLINTEND(modernize-use-using)
template <class S>
using Wide = typename PackOf<S>::wide;
template <class S>
using Narrow = typename PackOf<S>::narrow;
template <class S>
constexpr int lanes = OBOLUS_PACK / sizeof(S);

}  // namespace obolus::kernels::OBOLUS_INSTRUCTIONS
