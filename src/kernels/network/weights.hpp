// Weights in the layout of the loops.
#pragma once

#include "kernels/network/matrix.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// G w G' of 3×3 filters: w[9] to u[16], packs of them side by side.
template <class S>
OBOLUS_INLINE void transform_filters(const Wide<S> (&w)[9], Wide<S> (&u)[16]) {
  Wide<S> t[4][3];
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    t[0][j] = w[j];
    t[3][j] = w[6 + j];
    t[1][j] = S(0.5) * ((w[j] + w[3 + j]) + w[6 + j]);
    t[2][j] = S(0.5) * ((w[j] - w[3 + j]) + w[6 + j]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    u[4 * r] = t[r][0];
    u[4 * r + 3] = t[r][2];
    u[4 * r + 1] = S(0.5) * ((t[r][0] + t[r][1]) + t[r][2]);
    u[4 * r + 2] = S(0.5) * ((t[r][0] - t[r][1]) + t[r][2]);
  }
}

#if OBOLUS_PACK == 64 && defined(__AVX512F__)
// to's row m ← side's column m, by halves: the quarters off the diagonal are swapped, then the same in every quarter.
// The permutations are a table, since the compiler builds constant packs number by number.
struct Turned {
  alignas(64) std::int32_t upper[16][16] = {}, lower[16][16] = {};  // by the size of a half
  constexpr Turned() {
    for (int half = 1; half < 16; half *= 2)
      for (int i = 0; i < 16; ++i) {
        upper[half][i] = i & half ? 16 + i - half : i;
        lower[half][i] = i & half ? 16 + i : i + half;
      }
  }
};
OBOLUS_INLINE void write_transposed(const float (&side)[16][16], float* to, std::ptrdiff_t row) {
  static constexpr Turned turned;
  __m512 rows[16];
#pragma GCC unroll 16
  for (int n = 0; n < 16; ++n) rows[n] = _mm512_load_ps(side[n]);
#pragma GCC unroll 4
  for (int half = 8; half > 0; half /= 2) {
    const __m512i upper = _mm512_load_si512(turned.upper[half]), lower = _mm512_load_si512(turned.lower[half]);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      if ((i & half) == 0) {
        const __m512 one = rows[i], other = rows[i + half];
        rows[i] = _mm512_permutex2var_ps(one, upper, other);
        rows[i + half] = _mm512_permutex2var_ps(one, lower, other);
      }
  }
#pragma GCC unroll 16
  for (int m = 0; m < 16; ++m) _mm512_storeu_ps(to + m * row, rows[m]);
}
#endif

// A pack of output channels at a time, so that taps with input channels side by side can be written with output
// channels side by side.
template <class S>
void prepare_spectrum(const Block<S>& k, const S* taps, S* winograd, int first, int last) {
  constexpr int P = lanes<S>;
  for (int c = 0; c < k.in; c += P)
    for (int o = first; o < last; o += P) {
      const int count = o + P < last ? P : last - o;
      alignas(64) S side[16][P][P];
      for (int n = 0; n < count; ++n) {
        Wide<S> w[9], u[16];
        for (int i = 0; i < 9; ++i) w[i] = at(taps + ((c / P * k.out + o + n) * 9 + i) * P);
        transform_filters<S>(w, u);
        for (int i = 0; i < 16; ++i) at(side[i][n]) = u[i];
      }
      for (int i = 0; i < 16; ++i) {
        S* to = winograd + (i * k.in + c) * k.out + o;
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
        if constexpr (sizeof(S) == 4)
          if (count == P) {
            write_transposed(side[i], to, k.out);
            continue;
          }
#endif
        for (int m = 0; m < P; ++m)
          for (int n = 0; n < count; ++n) to[m * k.out + n] = side[i][n][m];
      }
    }
}

template <class S>
void prepare(const Block<S>& k, const S* theta, S* taps, S* winograd, int first, int last) {
  constexpr int P = lanes<S>;
  for (int o = first; o < last; ++o) {
    const S* w = theta + o * 9 * k.own_in;
    if (k.before == nullptr)
      for (int i = 0; i < 9; ++i) taps[i * k.out + o] = w[i];
    else
      for (int i = 0; i < 9; ++i, w += k.own_in) {
        S* to = taps + (o * 9 + i) * P;
        int c = 0;
        for (; c + P <= k.own_in; c += P) at(to + c * k.out * 9) = at(w + c);
        for (; c < k.own_in; ++c) to[c / P * P * k.out * 9 + c % P] = w[c];
      }
  }
  if (winograd != nullptr) prepare_spectrum(k, taps, winograd, first, last);
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
