// Packs in memory, and products of matrices made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/network/kernels.hpp"
#include "kernels/pack.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

using kernels::OBOLUS_INSTRUCTIONS::PackOf;

// Sums across a pack depend on its width: packs of 32 bytes at least, whatever the registers, keep the results the
// same.
#if OBOLUS_PACK == 16
template <class S>
using Wide = typename PackOf<S>::two_narrow;
template <class S>
constexpr int lanes = 32 / sizeof(S);
#else
using kernels::OBOLUS_INSTRUCTIONS::lanes;
using kernels::OBOLUS_INSTRUCTIONS::Wide;
#endif

template <class S>
OBOLUS_INLINE Wide<S>& at(S* numbers) {
  return *reinterpret_cast<Wide<S>*>(numbers);
}
template <class S>
OBOLUS_INLINE const Wide<S>& at(const S* numbers) {
  return *reinterpret_cast<const Wide<S>*>(numbers);
}
// The same pointer, in a register of its own: to the processor a multiply-add that reads from base + index is two
// operations, not one.
template <class T>
OBOLUS_INLINE T* settled(T* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}
// Written with intrinsics where possible: by way of memory it took a quarter of a product's time.
template <class S>
OBOLUS_INLINE S total(const Wide<S>& v) {
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
  if constexpr (sizeof(S) == 4) return _mm512_reduce_add_ps(reinterpret_cast<__m512>(v));
  else return _mm512_reduce_add_pd(reinterpret_cast<__m512d>(v));
#endif
  S half[lanes<S>];
  at<S>(half) = v;
#pragma GCC unroll 4
  for (int n = lanes<S> / 2; n > 0; n /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) half[i] += half[i + n];
  return half[0];
}

// A bit for every number of a comparison that holds.
template <class S, class Mask>
OBOLUS_INLINE std::uint64_t signs(const Mask& holds) {
#if OBOLUS_PACK == 64 && defined(__AVX512DQ__)
  if constexpr (sizeof(S) == 4) return _cvtmask16_u32(_mm512_movepi32_mask(reinterpret_cast<__m512i>(holds)));
  else return _cvtmask8_u32(_mm512_movepi64_mask(reinterpret_cast<__m512i>(holds)));
#elif OBOLUS_PACK == 32 && defined(__AVX2__)
  if constexpr (sizeof(S) == 4) return unsigned(_mm256_movemask_ps(reinterpret_cast<__m256>(holds)));
  else return unsigned(_mm256_movemask_pd(reinterpret_cast<__m256d>(holds)));
#else
  std::uint64_t bits = 0;
  for (int i = 0; i < lanes<S>; ++i) bits |= std::uint64_t(holds[i] != 0) << i;
  return bits;
#endif
}

// body(first channel, Packs<N>) over all channels, with as many packs at a time as the registers hold.
#if OBOLUS_PACK == 64
constexpr int side_by_side = 2;
#else
constexpr int side_by_side = 1;
#endif
template <int N>
struct Packs {
  static constexpr int count = N;
};
template <class S, int N, class Body>
OBOLUS_INLINE void by_packs(int channels, Body&& body, int o = 0) {
  for (; o + N * lanes<S> <= channels; o += N * lanes<S>) body(o, Packs<N>{});
  if constexpr (N > 1) by_packs<S, N / 2>(channels, body, o);
}

// body(row, turn) over all rows. Sums of N packs that take turns wait less for each other; `join` adds the sums of all
// turns to the first.
template <int N>
constexpr int turns = N < 4 ? 4 / N : 1;
template <int N, class Body>
OBOLUS_INLINE void by_turns(int count, Body&& body) {
  int t = 0;
  for (; t + turns<N> <= count; t += turns<N>)
#pragma GCC unroll 4
    for (int turn = 0; turn < turns<N>; ++turn) body(t + turn, turn);
  for (; t < count; ++t) body(t, 0);
}
template <class S, int R, int N>
OBOLUS_INLINE void join(Wide<S> (&sum)[R][N]) {
  for (int r = 1; r < R; ++r)
    for (int n = 0; n < N; ++n) sum[0][n] += sum[r][n];
}

template <class S>
struct Matrix {  // (r, k) is number[r · row + k · step]
  const S* number;
  std::ptrdiff_t row, step;
};

// As many rows as fill the registers with sums when two packs stand side by side.
#if OBOLUS_PACK == 64
constexpr int strip_rows = 12;
#else
constexpr int strip_rows = 6;
#endif

template <class S, int R, int N>
OBOLUS_INLINE void strip(int depth, Matrix<S> a, Matrix<S> b, S* c, std::ptrdiff_t c_row, bool more) {
  constexpr int P = lanes<S>;
  Wide<S> sum[R][N];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sum[r][n] = more ? at(c + r * c_row + n * P) : Wide<S>{};
  for (int k = 0; k < depth; ++k, a.number += a.step, b.number += b.row) {
    Wide<S> row[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) row[n] = at(b.number + n * P);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const S factor = a.number[r * a.row];
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[r][n] += factor * row[n];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) at(c + r * c_row + n * P) = sum[r][n];
}

// body(Packs<rows>), with the number of rows as a constant.
template <int R = strip_rows, class Body>
OBOLUS_INLINE void with_rows(int rows, Body&& body) {
  if (rows == R) body(Packs<R>{});
  else if constexpr (R > 1) with_rows<R - 1>(rows, body);
}

// Strips of nearly equal height: a last one of a single row would leave most registers idle.
template <class Body>
OBOLUS_INLINE void by_strips(int rows, Body&& body) {
  const int strips = (rows + strip_rows - 1) / strip_rows;
  for (int s = 0; s < strips; ++s) {
    const int first = int(std::int64_t(rows) * s / strips), last = int(std::int64_t(rows) * (s + 1) / strips);
    body(first, last - first);
  }
}

template <class S, int N>
void panel(int rows, int depth, Matrix<S> a, Matrix<S> b, S* c, std::ptrdiff_t c_row, bool more) {
  by_strips(rows, [&](int first, int count) __attribute__((always_inline)) {
    with_rows(count, [&](auto r) __attribute__((always_inline)) {
      strip<S, decltype(r)::count, N>(depth, {a.number + first * a.row, a.row, a.step}, b, c + first * c_row, c_row,
                                      more);
    });
  });
}

template <class S>
void multiply(int rows, int columns, int depth, const S* a, std::ptrdiff_t a_row, std::ptrdiff_t a_step, const S* b,
              std::ptrdiff_t b_row, S* c, std::ptrdiff_t c_row, bool more) {
  constexpr int P = lanes<S>;
  int n = 0;
  for (; n + 2 * P <= columns; n += 2 * P)
    panel<S, 2>(rows, depth, {a, a_row, a_step}, {b + n, b_row, 1}, c + n, c_row, more);
  if (n < columns) panel<S, 1>(rows, depth, {a, a_row, a_step}, {b + n, b_row, 1}, c + n, c_row, more);
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
