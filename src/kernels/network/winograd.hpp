// Later blocks, by Winograd's F(2×2, 3×3).
#pragma once

#include "kernels/network/forward.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// As many windows of a group as a product has rows in registers: their spectra and products stay in the first cache.
template <class S>
struct Strip {
  int first, rows;
  S* spectrum;  // [16][row][in]
};
// One is transformed while the one before it is multiplied: even ones lie at the start of the spectra, odd ones at the
// end.
template <class S>
Strip<S> strip_number(const Block<S>& k, const Part<S>& part, int windows, int strips, int s) {
  const int first = windows * s / strips, rows = windows * (s + 1) / strips - first;
  return {first, rows, part.spectrum + (s % 2 == 0 ? 0 : 16 * (windows - rows) * k.in)};
}

// B'dB of a pack of a patch at d, whose rows are `row` numbers apart; the sixteen results go `layer` numbers apart.
template <class S>
OBOLUS_INLINE void transform_patch(const S* d, std::ptrdiff_t row, S* to, std::ptrdiff_t layer) {
  constexpr int P = lanes<S>;
  Wide<S> u[4][4];
  const S *below = settled(d + row), *last = settled(d + 3 * row), *middle = settled(d + 2 * row);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const Wide<S> d0 = at(d + j * P), d1 = at(below + j * P), d2 = at(middle + j * P), d3 = at(last + j * P);
    u[0][j] = d0 - d2;
    u[1][j] = d1 + d2;
    u[2][j] = d2 - d1;
    u[3][j] = d1 - d3;
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r, to = settled(to + 4 * layer)) {
    at(to) = u[r][0] - u[r][2];
    at(to + layer) = u[r][1] + u[r][2];
    at(to + 2 * layer) = u[r][2] - u[r][1];
    at(to + 3 * layer) = u[r][1] - u[r][3];
  }
}
// Packs number first … last − 1 of the strip's rows × in.
template <class S>
void transform_patches(const Block<S>& k, const Part<S>& part, const Strip<S>& strip, int first, int last) {
  constexpr int P = lanes<S>;
  if (first >= last) return;
  const int packs = k.in / P, t = first / packs;
  int c = first - t * packs;
  const std::ptrdiff_t row = k.padded_width() * P, slab = k.pixels() * P, layer = strip.rows * k.in;
  const std::int32_t* corner = part.corner + strip.first + t;
  const S* image = image_of(k, part);
  S* to = strip.spectrum + first * P;
  for (int i = first; i < last; ++i, to += P) {
    transform_patch(image + *corner + c * slab, row, to, layer);
    if (++c == packs) {
      c = 0;
      ++corner;
    }
  }
}

// A'mA of `count` windows for N packs of channels, their bias, and the pooling.
template <class S, int N>
void pool_products(const Block<S>& k, const S* product, int count, const S* biases, S* pooled, std::uint8_t* winner) {
  constexpr int P = lanes<S>;
  const std::ptrdiff_t layer = count * N * P;
  for (int t = 0; t < count; ++t, pooled += k.out, winner += k.out)
#pragma GCC unroll 2
    for (int c = 0; c < N * P; c += P, product += P) {
      Wide<S> u[2][4], y[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const Wide<S> m0 = at(product + j * layer), m1 = at(product + (4 + j) * layer),
                      m2 = at(product + (8 + j) * layer), m3 = at(product + (12 + j) * layer);
        u[0][j] = (m0 + m1) + m2;
        u[1][j] = (m1 - m2) - m3;
      }
      const Wide<S> bias = at(biases + c);
#pragma GCC unroll 2
      for (int r = 0; r < 2; ++r) {
        y[2 * r] = ((u[r][0] + u[r][1]) + u[r][2]) + bias;
        y[2 * r + 1] = ((u[r][1] - u[r][2]) - u[r][3]) + bias;
      }
      pool<S>(y, pooled + c, winner + c);
    }
}

// The sixteen products of a strip for N packs of channels from o on, interleaved with the next strip's transforms:
// their writes take longer than their sums and overlap with the multiply-adds.
template <class S, int N>
void multiply_spectra(const Block<S>& k, Part<S>& part, const Strip<S>& now, int o, const Strip<S>& next) {
  constexpr int wide = N * lanes<S>;
  const int packs = next.rows * k.in / lanes<S>;
  with_rows(now.rows, [&](auto rows) __attribute__((always_inline)) {
    constexpr int R = decltype(rows)::count;
    const S *a = now.spectrum, *b = k.winograd + o;
    S* c = part.product;
    for (int i = 0; i < 16; ++i, a += R * k.in, b += k.in * k.out, c += R * wide) {
      strip<S, R, N>(k.in, {a, k.in, 1}, {b, k.out, 1}, c, wide, false);
      if (i % 2 == 1) transform_patches(k, part, next, packs * (i - 1) / 16, packs * (i + 1) / 16);
    }
  });
}

template <class S>
void forward_windows(const Block<S>& k, Part<S>& part, int windows, S* pooled, std::uint8_t* winner) {
  const int strips = (windows + strip_rows - 1) / strip_rows;
  Strip<S> now = strip_number(k, part, windows, strips, 0);
  transform_patches(k, part, now, 0, now.rows * k.in / lanes<S>);
  for (int s = 1; s <= strips; ++s) {
    const Strip<S> next = s < strips ? strip_number(k, part, windows, strips, s) : Strip<S>{};
    by_packs<S, 2>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
      constexpr int N = decltype(packs)::count;
      multiply_spectra<S, N>(k, part, now, o, o == 0 ? next : Strip<S>{});
      const std::ptrdiff_t i = now.first * k.out + o;
      pool_products<S, N>(k, part.product, now.rows, k.bias + o, pooled + i, winner + i);
    });
    now = next;
  }
}

template <class S>
void forward_later(const Block<S>& k, Part<S>& part, int first, int last) {
  find_corners(k, part, k.group * k.windows());
  for (int picture = first; picture < last; picture += k.group) {
    const int count = picture + k.group < last ? k.group : last - picture, windows = count * k.windows();
    for (int i = 0; i < count; ++i) load_image(k, picture + i, image_of(k, part) + i * k.in * k.pixels());
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    forward_windows(k, part, windows, k.pooled + start, k.winner + start);
    join_statistics(k, part, k.pooled + start, windows);
  }
}

template <class S>
void forward(const Block<S>& k, Part<S>& part, int first, int last) {
  k.before == nullptr ? forward_first(k, part, first, last) : forward_later(k, part, first, last);
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
