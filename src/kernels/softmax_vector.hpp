// Vectors of 32 bytes and the functions of them that softmax needs. Included by the two compilations of the kernels only, each
// in a namespace of its own: nothing here may be shared between instruction sets.
template <class S>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float type __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t bits __attribute__((vector_size(32)));
};
template <>
struct VectorOf<double> {
  typedef double type __attribute__((vector_size(32), aligned(8), may_alias));
  typedef std::int64_t bits __attribute__((vector_size(32)));
};
template <class S>
using Pack = typename VectorOf<S>::type;
template <class S>
constexpr int lanes = 32 / sizeof(S);

#define OBOLUS_INLINE static inline __attribute__((always_inline))

template <class S>
OBOLUS_INLINE Pack<S>* packs(S* p) {
  return reinterpret_cast<Pack<S>*>(p);
}
template <class S>
OBOLUS_INLINE const Pack<S>* packs(const S* p) {
  return reinterpret_cast<const Pack<S>*>(p);
}

template <class S>
OBOLUS_INLINE S total(const Pack<S>& v) {
  S sum = 0;
  for (int i = 0; i < lanes<S>; ++i) sum += v[i];
  return sum;
}
template <class S>
OBOLUS_INLINE S largest(const Pack<S>& v) {
  S most = v[0];
  for (int i = 1; i < lanes<S>; ++i) most = v[i] > most ? v[i] : most;
  return most;
}

// expm1 by x = k ln 2 + r, |r| ≤ ln 2/2, and a Taylor polynomial of E(r) = e^r − 1: e^x − 1 = 2^k E + (2^k − 1), where
// nothing cancels for k = 0. The polynomials end where the next term is below half a unit: r^8/8! < 6e-9 in float, r^14/14! <
// 5e-18 in double. Both E and 2^k are handed out, since e^x = 2^k E + 2^k.
template <class S>
struct Exponential;

template <>
struct Exponential<float> {
  OBOLUS_INLINE void of(Pack<float> x, Pack<float>& part, Pack<float>& power) {
    x = x < -87.0f ? (Pack<float>{} - 87.0f) : x;
    x = x > 87.0f ? (Pack<float>{} + 87.0f) : x;
    const Pack<float> shifted = x * 1.44269504f + 12582912.0f;  // rounds to whole k in the low bits
    const Pack<float> k = shifted - 12582912.0f;
    const Pack<float> r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    Pack<float> e = Pack<float>{} + 1.0f / 5040;
    e = e * r + 1.0f / 720;
    e = e * r + 1.0f / 120;
    e = e * r + 1.0f / 24;
    e = e * r + 1.0f / 6;
    e = e * r + 0.5f;
    e = e * (r * r) + r;
    const auto bits = (reinterpret_cast<VectorOf<float>::bits>(shifted) << 23) + (127 << 23);
    power = reinterpret_cast<Pack<float>>(bits);
    part = e * power;
  }
};

template <>
struct Exponential<double> {
  OBOLUS_INLINE void of(Pack<double> x, Pack<double>& part, Pack<double>& power) {
    x = x < -708.0 ? (Pack<double>{} - 708.0) : x;
    x = x > 708.0 ? (Pack<double>{} + 708.0) : x;
    const Pack<double> shifted = x * 1.4426950408889634 + 6755399441055744.0;
    const Pack<double> k = shifted - 6755399441055744.0;
    const Pack<double> r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    Pack<double> e = Pack<double>{} + 1.0 / 6227020800.0;
    e = e * r + 1.0 / 479001600.0;
    e = e * r + 1.0 / 39916800.0;
    e = e * r + 1.0 / 3628800.0;
    e = e * r + 1.0 / 362880.0;
    e = e * r + 1.0 / 40320.0;
    e = e * r + 1.0 / 5040.0;
    e = e * r + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * (r * r) + r;
    const auto bits = (reinterpret_cast<VectorOf<double>::bits>(shifted) << 52) + (std::int64_t{1023} << 52);
    power = reinterpret_cast<Pack<double>>(bits);
    part = e * power;
  }
};

template <class S>
OBOLUS_INLINE Pack<S> exponential(Pack<S> x) {
  Pack<S> part, power;
  Exponential<S>::of(x, part, power);
  return part + power;
}
template <class S>
OBOLUS_INLINE Pack<S> exponential_minus_one(Pack<S> x) {
  Pack<S> part, power;
  Exponential<S>::of(x, part, power);
  return part + (power - S(1));
}
