// From pictures to the output of the pooling windows: the parts that all blocks share, and the first block.
#pragma once

#include "kernels/network/matrix.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// The places of a window, its 3×3 surroundings and its 4×4 patch are counted row by row.
template <class S>
using Bits = decltype(Wide<S>{} < Wide<S>{});

// Places are kept as bytes. The compiler's own conversion of a pack takes the bytes one by one, so intrinsics do it
// where possible.
template <class S>
OBOLUS_INLINE Bits<S> load_places(const std::uint8_t* from) {
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
  if constexpr (sizeof(S) == 4)
    return reinterpret_cast<Bits<S>>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  else return reinterpret_cast<Bits<S>>(_mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#elif OBOLUS_PACK == 32 && defined(__AVX2__)
  if constexpr (sizeof(S) == 4)
    return reinterpret_cast<Bits<S>>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
  Bits<S> places;
  for (int i = 0; i < lanes<S>; ++i) places[i] = from[i];
  return places;
}
template <class S>
OBOLUS_INLINE void store_places(std::uint8_t* to, const Bits<S>& places) {
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
  if constexpr (sizeof(S) == 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(places)));
    return;
  }
#elif OBOLUS_PACK == 32 && defined(__AVX2__)
  if constexpr (sizeof(S) == 4) {
    const __m256i all = reinterpret_cast<__m256i>(places);
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
    return;
  }
#endif
  for (int i = 0; i < lanes<S>; ++i) to[i] = std::uint8_t(places[i]);
}

// from[which[i]] in place i, where there is an instruction for it; `which` is less than 8. Eight numbers are read: a
// whole pack would nearly always span two cache lines.
template <class S>
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
constexpr bool can_pick = true;
#elif OBOLUS_PACK == 32 && defined(__AVX2__)
constexpr bool can_pick = sizeof(S) == 4;
#else
constexpr bool can_pick = false;
#endif
template <class S>
OBOLUS_INLINE Wide<S> pick([[maybe_unused]] const S* from, [[maybe_unused]] const Bits<S>& which) {
#if OBOLUS_PACK == 64 && defined(__AVX512F__)
  const __m512i places = reinterpret_cast<__m512i>(which);
  if constexpr (sizeof(S) == 4) return _mm512_permutexvar_ps(places, _mm512_castps256_ps512(_mm256_loadu_ps(from)));
  else return _mm512_permutexvar_pd(places, _mm512_loadu_pd(from));
#elif OBOLUS_PACK == 32 && defined(__AVX2__)
  if constexpr (sizeof(S) == 4)
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), reinterpret_cast<__m256i>(which));
#endif
  return at(from);
}

// ---- Images ---------------------------------------------------------------------------------------------------------

// Every block has its own images in a part; their borders stay 0.
template <class S>
OBOLUS_INLINE S* image_of(const Block<S>& k, const Part<S>& part) {
  return part.image + k.images;
}
template <class S>
OBOLUS_INLINE S* image_t_of(const Block<S>& k, const Part<S>& part) {
  return part.image_t + k.images;
}

template <class S>
void load_picture(const Block<S>& k, int picture, S* image) {
  const S* from = k.pictures + std::size_t(picture) * std::size_t(k.height * k.width);
  const int width = k.width, height = k.height;
  S* to = image + k.padded_width() + 1;
  for (int y = 0; y < height; ++y, to += width + 2, from += width)
    for (int x = 0; x < width; ++x) to[x] = from[x];
}

// How far ahead numbers beyond the second cache are prefetched: 4 KB, further than the processor itself looks.
template <class S>
constexpr int ahead = 4096 / int(sizeof(S));

// image ← load(pack)(place of p) over the pixels of a picture, which are the windows of the block before. Constants are
// read before the loops: to the compiler, every write may change the block.
template <class S, class Load>
OBOLUS_INLINE void fill_image(const Block<S>& k, int picture, S* image, Load&& load) {
  constexpr int P = lanes<S>;
  const int in = k.in, width = k.width, height = k.height, row = k.padded_width() * P;
  const std::ptrdiff_t slab = k.pixels() * P;
  by_packs<S, 4>(in, [&](int c, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    std::size_t from = std::size_t(picture) * std::size_t(height * width) * std::size_t(in) + std::size_t(c);
    const auto pack = load(c, packs);
    S* line = image + c * k.pixels() + row + P;
    for (int y = 0; y < height; ++y, line += row) {
      S* to = line;
      for (int x = 0; x < width; ++x, to += P, from += std::size_t(in))
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) at(to + n * slab) = pack(from + std::size_t(n * P), n);
    }
  });
}
// Numbers of N packs of channels.
template <class S, int N>
struct Row {
  Wide<S> pack[N];
  explicit Row(const S* from) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) pack[n] = at(from + n * lanes<S>);
  }
};
template <class S>
void load_image(const Block<S>& k, int picture, S* image) {
  const Block<S>& before = *k.before;
  fill_image(k, picture, image, [&](int c, auto packs) __attribute__((always_inline)) {
    using Factors = Row<S, decltype(packs)::count>;
    return [p = before.pooled, a = Factors(before.a + c), b = Factors(before.b + c)](std::size_t i, int n)
               __attribute__((always_inline)) {
                 __builtin_prefetch(p + i + ahead<S>);
                 return a.pack[n] * at(p + i) + b.pack[n];
               };
  });
}
template <class S>
void load_image_tangent(const Block<S>& k, int picture, S* image) {
  const Block<S>& before = *k.before;
  fill_image(k, picture, image, [&](int c, auto packs) __attribute__((always_inline)) {
    using Factors = Row<S, decltype(packs)::count>;
    return [p = before.pooled, p_t = before.pooled_t, a = Factors(before.a + c), a_t = Factors(before.a_t + c),
            b_t = Factors(before.b_t + c)](std::size_t i, int n) __attribute__((always_inline)) {
      __builtin_prefetch(p_t + i + ahead<S>);
      __builtin_prefetch(p + i + ahead<S>);
      return a.pack[n] * at(p_t + i) + (a_t.pack[n] * at(p + i) + b_t.pack[n]);
    };
  });
}

// Where the patch of window t of a group starts in its images.
template <class S>
void find_corners(const Block<S>& k, Part<S>& part, int windows) {
  const int pack = k.before == nullptr ? 1 : lanes<S>;
  int t = 0;
  for (int picture = 0; t < windows; picture += k.in * k.pixels())
    for (int y = 0; y < k.rows; ++y)
      for (int x = 0; x < k.columns; ++x) part.corner[t++] = picture + (2 * y * k.padded_width() + 2 * x) * pack;
}

// ---- Pooling --------------------------------------------------------------------------------------------------------

// max(0, max of a window), and its place: the first of equals. A NaN in the first place stays; others show in the
// statistics of the batch.
template <class S>
OBOLUS_INLINE void pool(const Wide<S> (&y)[4], S* pooled, std::uint8_t* winner) {
#if OBOLUS_PACK == 64 && defined(__AVX512BW__) && defined(__AVX512VL__)
  // The max of two pairs, and comparisons as bits that select bytes: 10 operations instead of 13. max(u, v) is u > v ?
  // u : v.
  if constexpr (sizeof(S) == 4) {
    const __m512 y0 = reinterpret_cast<__m512>(y[0]), y1 = reinterpret_cast<__m512>(y[1]),
                 y2 = reinterpret_cast<__m512>(y[2]), y3 = reinterpret_cast<__m512>(y[3]);
    const __m512 low = _mm512_max_ps(y1, y0), high = _mm512_max_ps(y3, y2);
    const __m128i right = _mm_maskz_set1_epi8(_mm512_cmp_ps_mask(y1, y0, _CMP_GT_OQ), 1);
    const __m128i two = _mm_set1_epi8(2);
    const __m128i below = _mm_mask_blend_epi8(_mm512_cmp_ps_mask(y3, y2, _CMP_GT_OQ), two, _mm_set1_epi8(3));
    const __m128i who = _mm_mask_blend_epi8(_mm512_cmp_ps_mask(high, low, _CMP_GT_OQ), right, below);
    _mm512_storeu_ps(pooled, _mm512_max_ps(_mm512_setzero_ps(), _mm512_max_ps(high, low)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(winner), who);
    return;
  }
#endif
  Wide<S> max = y[0];
  Bits<S> who{};
#pragma GCC unroll 3
  for (int p = 1; p < 4; ++p) {
    const Bits<S> more = y[p] > max;
    max = more ? y[p] : max;
    who = more ? Bits<S>{} + p : who;
  }
  at(pooled) = max < 0 ? Wide<S>{} : max;
  store_places<S>(winner, who);
}

// Count, mean and squares of `count` windows joined to those of the part (Chan, Golub, LeVeque 1983): two passes,
// nothing cancels.
template <class S>
void join_statistics(const Block<S>& k, Part<S>& part, const S* pooled, int count) {
  constexpr int P = lanes<S>;
  const double seen = part.count_of_p, all = seen + count;
  by_packs<S, 4>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    Wide<S> mean[turns<N>][N] = {}, squares[turns<N>][N] = {};
    by_turns<N>(count, [&](int t, int turn) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) mean[turn][n] += at(pooled + t * k.out + o + n * P);
    });
    join<S>(mean);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) mean[0][n] /= S(count);
    by_turns<N>(count, [&](int t, int turn) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        const Wide<S> off = at(pooled + t * k.out + o + n * P) - mean[0][n];
        squares[turn][n] += off * off;
      }
    });
    join<S>(squares);
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < P; ++i) {
        const int c = o + n * P + i;
        const double off = double(mean[0][n][i]) - part.mean[c];
        part.mean[c] += off * count / all;
        part.squares[c] += double(squares[0][n][i]) + off * off * seen * count / all;
      }
  });
  part.count_of_p = all;
}

// ---- The first block, from one channel ------------------------------------------------------------------------------

// The four places of a window for N packs of channels: each pixel of the patch is read once.
template <class S, int N>
OBOLUS_INLINE void convolve_window(const S* patch, std::ptrdiff_t width, const Wide<S> (&w)[N][9], Wide<S> (&y)[N][4]) {
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r, patch = settled(patch + width))
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const S pixel = patch[c];
#pragma GCC unroll 4
      for (int p = 0; p < 4; ++p) {
        const int dy = r - p / 2, dx = c - p % 2;
        if (dy >= 0 && dy < 3 && dx >= 0 && dx < 3)
#pragma GCC unroll 2
          for (int n = 0; n < N; ++n) y[n][p] += pixel * w[n][dy * 3 + dx];
      }
    }
}

// y(window, packs' places) of a picture in the first block
template <class S, int N, class Each>
OBOLUS_INLINE void convolve_first(const Block<S>& k, const S* image, const S* taps, const S* bias, Each&& each) {
  constexpr int P = lanes<S>;
  Wide<S> w[N][9];
#pragma GCC unroll 2
  for (int n = 0; n < N; ++n)
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) w[n][i] = at(taps + i * k.out + n * P);
  const int columns = k.columns, out = k.out, windows = k.windows();
  const std::ptrdiff_t width = k.padded_width();
  for (int t = 0; t < windows; image += 2 * width)
    for (int x = 0; x < columns; ++x, ++t) {
      Wide<S> y[N][4];
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n)
#pragma GCC unroll 4
        for (int p = 0; p < 4; ++p) y[n][p] = at(bias + n * P);
      convolve_window<S, N>(image + 2 * x, width, w, y);
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) each(t * out + n * P, y[n]);
    }
}

template <class S>
void forward_first(const Block<S>& k, Part<S>& part, int first, int last) {
  for (int picture = first; picture < last; ++picture) {
    S* image = image_of(k, part);
    load_picture(k, picture, image);
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    by_packs<S, side_by_side>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
      S* pooled = k.pooled + start + o;
      std::uint8_t* winner = k.winner + start + o;
      convolve_first<S, decltype(packs)::count>(
          k, image, k.taps + o, k.bias + o,
          [&](int i, const Wide<S>(&y)[4]) __attribute__((always_inline)) { pool<S>(y, pooled + i, winner + i); });
    });
    join_statistics(k, part, k.pooled + start, k.windows());
  }
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
