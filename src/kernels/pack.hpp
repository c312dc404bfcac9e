// Packs of numbers as wide as an instruction set has them. Included by the compilations of the kernels only, each in a namespace of
// its own: nothing here may be shared between instruction sets. OBOLUS_PACK is the bytes of a wide pack.
#define OBOLUS_INLINE static inline __attribute__((always_inline))

template <class S>
struct PackOf;
template <>
struct PackOf<float> {
  typedef float wide __attribute__((vector_size(OBOLUS_PACK), aligned(4), may_alias));
  typedef float narrow __attribute__((vector_size(16), aligned(4), may_alias));
};
template <>
struct PackOf<double> {
  typedef double wide __attribute__((vector_size(OBOLUS_PACK), aligned(8), may_alias));
  typedef double narrow __attribute__((vector_size(16), aligned(8), may_alias));
};
template <class S>
using Wide = typename PackOf<S>::wide;
template <class S>
using Narrow = typename PackOf<S>::narrow;
template <class S>
constexpr int lanes = OBOLUS_PACK / sizeof(S);
