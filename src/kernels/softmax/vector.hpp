// Rows made of packs and the functions of them that softmax needs, for one instruction set: see kernels/pack.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pack.hpp"
#include "kernels/softmax/kernels.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

using namespace kernels::OBOLUS_INSTRUCTIONS;  // packs

// ---- Sums and maxima over packs -------------------------------------------------------------------------------------

template <class V>
OBOLUS_INLINE void clear(V& v) {
  v = V{};
}
template <class V>
constexpr bool is_narrow = sizeof(V) == 16;

// Quarters of a wide pack joined two by two.
template <class S, class Join>
OBOLUS_INLINE Narrow<S> fold(const Wide<S>& v, Join&& join) {
  if constexpr (sizeof(S) == 4 && OBOLUS_PACK == 64)
    return join(join(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)),
                join(__builtin_shufflevector(v, v, 8, 9, 10, 11), __builtin_shufflevector(v, v, 12, 13, 14, 15)));
  else if constexpr (OBOLUS_PACK == 16) return v;
  else if constexpr (sizeof(S) == 4)
    return join(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7));
  else if constexpr (OBOLUS_PACK == 64)
    return join(join(__builtin_shufflevector(v, v, 0, 1), __builtin_shufflevector(v, v, 2, 3)),
                join(__builtin_shufflevector(v, v, 4, 5), __builtin_shufflevector(v, v, 6, 7)));
  else return join(__builtin_shufflevector(v, v, 0, 1), __builtin_shufflevector(v, v, 2, 3));
}
template <class S, class Join>
OBOLUS_INLINE S fold_narrow(const Narrow<S>& v, Join&& join) {
  if constexpr (sizeof(S) == 4) return join(join(v[0], v[2]), join(v[1], v[3]));
  else return join(v[0], v[1]);
}

// Packs of 16 bytes are summed to the same bits as those of 32: the packs of lines, which come first, go to two sums in
// turn.
template <class S>
struct Sum {
  int of_lines = 0;  // packs of lines still to come
  Wide<S> wide{}, odd{};
  Narrow<S> narrow{};
  template <class V>
  [[gnu::always_inline]] void add(V v) {
    if constexpr (OBOLUS_PACK == 16) {
      Wide<S>& to = of_lines <= 0 ? narrow : of_lines % 2 == 0 ? wide : odd;
      to += v;
      --of_lines;
    } else if constexpr (is_narrow<V>) narrow += v;
    else wide += v;
  }
  [[gnu::always_inline]] S total() const {
    const auto plus = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
    if constexpr (OBOLUS_PACK == 16) return fold_narrow<S>(narrow + (wide + odd), plus);
    else return fold_narrow<S>(narrow + fold<S>(wide, plus), plus);
  }
};

template <class S>
struct Max {
  Wide<S> wide;
  Narrow<S> narrow;
  [[gnu::always_inline]] explicit Max(S min) : wide(Wide<S>{} + min), narrow(Narrow<S>{} + min) {}
  template <class V>
  [[gnu::always_inline]] void add(V v) {
    if constexpr (is_narrow<V>) narrow = v > narrow ? v : narrow;
    else wide = v > wide ? v : wide;
  }
  [[gnu::always_inline]] S total() const {
    const auto max = [](auto a, auto b) __attribute__((always_inline)) { return a > b ? a : b; };
    return fold_narrow<S>(max(narrow, fold<S>(wide, max)), max);
  }
};

// False with a NaN in the sum of norms. Some 1e8 tame sums are still finite in float.
template <class S>
OBOLUS_INLINE bool is_tame(S norms) {
  return norms <= S(1e30);
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

// A row in memory and one in registers: the packs of its lines, aligned to lines, and those of its quarters, aligned to
// quarters.
template <class S>
struct RowAt {
  Wide<S>* line;
  Narrow<S>* rest;
};
template <class S, int L, int Q>
struct alignas(64) Row {
  static constexpr int max_lines = max_classes / 8 + 1;  // of doubles
  Wide<S> line[(L < 0 ? max_lines : L > 0 ? L : 1) * 64 / OBOLUS_PACK];
  Narrow<S> rest[L < 0 ? 3 : Q > 0 ? Q : 1];
};

// Rows of L lines and Q quarters, or of the `cut` when L is negative.
template <class S, int L, int Q>
struct Shape {
  Cut cut;

  [[gnu::always_inline]] int lines() const { return L < 0 ? cut.lines : L; }
  [[gnu::always_inline]] int quarters() const { return L < 0 ? cut.quarters : Q; }

  [[gnu::always_inline]] RowAt<S> at(const Rows<S>& rows, std::size_t i) const {
    return {reinterpret_cast<Wide<S>*>(rows.line + i * (std::size_t(lines()) * 64 / sizeof(S))),
            reinterpret_cast<Narrow<S>*>(rows.rest + i * (std::size_t(quarters()) * 16 / sizeof(S)))};
  }
  // f(a pack of each row) for every pack of them
  template <class F, class... R>
  [[gnu::always_inline]] void each(F&& f, R&&... rows) const {
    for (int v = 0; v < lines() * (64 / OBOLUS_PACK); ++v) f(rows.line[v]...);
    for (int v = 0; v < quarters(); ++v) f(rows.rest[v]...);
  }
  [[gnu::always_inline]] Sum<S> sum() const { return {lines() * (64 / OBOLUS_PACK)}; }
  // The number of class c.
  [[gnu::always_inline]] S& number(const RowAt<S>& row, int c) const {
    const int width = lines() * int(64 / sizeof(S));
    return c < width ? reinterpret_cast<S*>(row.line)[c] : reinterpret_cast<S*>(row.rest)[c - width];
  }
  [[gnu::always_inline]] void look_ahead(const Rows<S>& rows, std::size_t i) const {
    const RowAt<S> row = at(rows, i);
    for (int v = 0; v < lines(); ++v) __builtin_prefetch(row.line + v * (64 / OBOLUS_PACK));
    if (quarters() > 0) __builtin_prefetch(row.rest);
  }
  [[gnu::always_inline]] void look_ahead_to_write(const Rows<S>& rows, std::size_t i) const {
    const RowAt<S> row = at(rows, i);
    for (int v = 0; v < lines(); ++v) __builtin_prefetch(row.line + v * (64 / OBOLUS_PACK), 1);
    if (quarters() > 0) __builtin_prefetch(row.rest, 1);
  }
};

// A number for packs of both widths, loaded once: the narrow one is a part of the wide.
template <class S>
struct Factor {
  Wide<S> wide;
  [[gnu::always_inline]] explicit Factor(S a) : wide(a - Wide<S>{}) {}
  template <class V>
  [[gnu::always_inline]] auto like(const V&) const {
    if constexpr (sizeof(V) == sizeof(Wide<S>)) return wide;
    else if constexpr (sizeof(S) == 4) return __builtin_shufflevector(wide, wide, 0, 1, 2, 3);
    else return __builtin_shufflevector(wide, wide, 0, 1);
  }
};

// ---- Exponentials ---------------------------------------------------------------------------------------------------

// expm1 by x = k ln 2 + r, |r| ≤ ln 2/2, and a Taylor polynomial of E(r) = e^r − 1: e^x − 1 = 2^k E + (2^k − 1), where
// nothing cancels for k = 0. The polynomials end where the next term is below half a unit: r^8/8! < 6e-9 in float,
// r^14/14! < 5e-18 in double. Both E and 2^k are returned, since e^x = 2^k E + 2^k.
template <class V>
OBOLUS_INLINE void exponential_parts(V x, V& part, V& power) {
  using Bits = decltype(x < x);
  if constexpr (sizeof(x[0]) == 4) {
    x = x < -87.0f ? (V{} - 87.0f) : x;
    x = x > 87.0f ? (V{} + 87.0f) : x;
    const V shifted = x * 1.44269504f + 12582912.0f;  // rounds to whole k in the low bits
    const V k = shifted - 12582912.0f;
    const V r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    V e = V{} + 1.0f / 5040;
    e = e * r + 1.0f / 720;
    e = e * r + 1.0f / 120;
    e = e * r + 1.0f / 24;
    e = e * r + 1.0f / 6;
    e = e * r + 0.5f;
    e = e * (r * r) + r;
    power = reinterpret_cast<V>((reinterpret_cast<Bits>(shifted) << 23) + (127 << 23));
    part = e * power;
  } else {
    x = x < -708.0 ? (V{} - 708.0) : x;
    x = x > 708.0 ? (V{} + 708.0) : x;
    const V shifted = x * 1.4426950408889634 + 6755399441055744.0;
    const V k = shifted - 6755399441055744.0;
    const V r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    V e = V{} + 1.0 / 6227020800.0;
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
    power = reinterpret_cast<V>((reinterpret_cast<Bits>(shifted) << 52) + (std::int64_t{1023} << 52));
    part = e * power;
  }
}

template <class V>
OBOLUS_INLINE V exponential(V x) {
  V part, power;
  exponential_parts<V>(x, part, power);
  return part + power;
}
template <class V>
OBOLUS_INLINE V exponential_minus_one(V x) {
  V part, power;
  exponential_parts<V>(x, part, power);
  return part + (power - 1);
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
