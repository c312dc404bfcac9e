// The slope in a block's image from that behind its ReLU: each place that passed gives to the nine pixels around it.
#pragma once

#include "kernels/network/places.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// What Q places of every window in a row of windows (all four, or the two of one height) add to the slope in the image.
// `add` adds the part of one channel to the nine pixels around its place, for N packs of input channels. Neighbouring
// patches share two columns, which stay in registers. line[r]: row r of the patches; packs are `slab` numbers apart.
// For every window, Q pixels of `slope` are prefetched.
template <class S, int N, int Q, class Add>
OBOLUS_INLINE void spread_row(const Block<S>& k, const std::uint64_t* passed, std::ptrdiff_t flow, S* const* line,
                              std::ptrdiff_t slab, const S* slope, Add&& add) {
  constexpr int P = lanes<S>, R = 2 + Q / 2;
  const int words = words_of(k), columns = k.columns, out = k.out, in = k.in;
  Wide<S> sum[N][R][4] = {};
  const auto store = [&](std::ptrdiff_t to) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int i = 0; i < 2; ++i) {
          at(line[r] + n * slab + to + i * P) += sum[n][r][i];
          sum[n][r][i] = sum[n][r][2 + i];
          sum[n][r][2 + i] = Wide<S>{};
        }
  };
  for (int x = 0; x < columns; ++x, flow += out) {
    for (int word = 0; word < words; ++word, passed += 4)
#pragma GCC unroll 4
      for (int p = 0; p < Q; ++p)
        for (std::uint64_t bits = passed[p]; bits != 0; bits &= bits - 1)
          add(flow + 64 * word, 64 * word, std::size_t(unsigned(__builtin_ctzll(bits))),
              [&](int n, int i)
                  __attribute__((always_inline)) -> Wide<S>& { return sum[n][p / 2 + i / 3][p % 2 + i % 3]; });
    store(2 * P * x);
#pragma GCC unroll 4
    for (int i = 0; i < Q; ++i, slope += in)
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) __builtin_prefetch(slope + n * P, 1);
  }
  store(2 * P * columns);
}

// Where the slope in the images goes: it is the slope in the output of the block before, and is summed together with p
// there.
template <class S>
struct Slopes {
  S* slope;
  const S *p, *mean, *inverse;
  double *sum, *product;
};
template <class S, int N>
struct SlopeSums {
  Wide<S> mean[N], plain[N], with[N];
  __attribute__((always_inline)) SlopeSums(const Slopes<S>& to, int c) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      mean[n] = at(to.mean + c + n * lanes<S>);
      plain[n] = with[n] = Wide<S>{};
    }
  }
  __attribute__((always_inline)) void join(const Slopes<S>& to, int c) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n, c += lanes<S>) {
      with[n] *= at(to.inverse + c);
      for (int i = 0; i < lanes<S>; ++i) {
        to.sum[c + i] += double(plain[n][i]);
        to.product[c + i] += double(with[n][i]);
      }
    }
  }
};

// Writes a complete row.
template <class S, int N>
OBOLUS_INLINE void hand_back(S* from, std::ptrdiff_t slab, S* slope, const S* p, int width, int in,
                             SlopeSums<S, N>& sums) {
  constexpr int P = lanes<S>;
  for (int x = 0; x < width; ++x, from += P, slope += in, p += in)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      const Wide<S> u = at(from + n * slab);
      at(slope + n * P) = u;
      sums.plain[n] += u;
      sums.with[n] += u * (at(p + n * P) - sums.mean[n]);
    }
}

// One picture, whose first window is number t of the group's. `back` has four rows in turn, all 0 before and after; two
// are complete when a row of windows is done.
template <class S, int N, int Q, class Add>
OBOLUS_INLINE void spread_picture(const Block<S>& k, const Part<S>& part, int t, S* slope, const S* p,
                                  SlopeSums<S, N>& sums, Add&& add) {
  constexpr int P = lanes<S>;
  const int row = k.padded_width() * P, in = k.in, width = k.width, height = k.height, rows = k.rows;
  const std::ptrdiff_t slab = 4 * row;
  for (int y = 0; y <= rows; ++y) {
    S* line[4];
    for (int r = 0; r < 4; ++r) line[r] = part.back + ((2 * y + r) & 3) * row;
    for (int q = 0; q < 4 && y < rows; q += Q) {
      const int window = t + y * k.columns;
      spread_row<S, N, Q>(k, part.passed + 4 * words_of(k) * window + q, window * k.out, line + q / 2, slab,
                          slope + (4 * y + q) * k.columns * in, add);
    }
    for (int r = 0; r < 2; ++r) {
      const int to = 2 * y + r - 1;
      if (to >= 0 && to < height)
        hand_back<S, N>(line[r] + P, slab, slope + to * width * in, p + to * width * in, width, in, sums);
      for (int n = 0; n < N; ++n)
        for (int i = 0; i < row; i += P) at(line[r] + n * slab + i) = Wide<S>{};
    }
  }
}

// The slopes in the images of `count` pictures, one slab of weights after the other: add(packs, first channel, …)
// Two packs read each flow once and keep more multiply-adds in flight across a mispredicted branch, but need half
// windows (two packs of whole ones are 32 sums) and their weights in the first cache.
template <class S, class Add>
OBOLUS_INLINE void spread(const Block<S>& k, const Part<S>& part, int count, const Slopes<S>& to, Add&& add) {
  const auto pictures = [&](auto packs, int c) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    const int row = k.padded_width() * lanes<S>, size = k.height * k.width * k.in;
    for (int i = 0; i < 4 * N * row; i += lanes<S>) at(part.back + i) = Wide<S>{};
    SlopeSums<S, N> sums(to, c);
    for (int i = 0; i < count; ++i)
      spread_picture<S, N, 4 / N>(k, part, i * k.windows(), to.slope + i * size + c, to.p + i * size + c, sums,
                                  [&](auto... place) __attribute__((always_inline)) { add(packs, c, place...); });
    sums.join(to, c);
  };
  int c = 0;
  if constexpr (side_by_side > 1)
    if (k.out * 9 * 2 * OBOLUS_PACK <= 40000)
      for (; c + 2 * lanes<S> <= k.in; c += 2 * lanes<S>) pictures(Packs<2>{}, c);
  for (; c < k.in; c += lanes<S>) pictures(Packs<1>{}, c);
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
