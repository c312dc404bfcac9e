// From the slope in a block's output to the slopes in its weights and its input, along the places that passed.
#pragma once

#include "kernels/network/spread.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

template <class S>
void sums(const S* u, const S* p, const S* mean, const S* inverse, int out, int count, double* sum, double* product) {
  constexpr int P = lanes<S>;
  by_packs<S, 4>(out, [&](int o, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    Wide<S> plain[turns<N>][N] = {}, with[turns<N>][N] = {};
    by_turns<N>(count, [&](int t, int turn) __attribute__((always_inline)) {
      const S *left = u + t * out + o, *right = p + t * out + o;
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        plain[turn][n] += at(left + n * P);
        with[turn][n] += at(left + n * P) * (at(right + n * P) - at(mean + o + n * P));
      }
    });
    join<S>(plain);
    join<S>(with);
    for (int n = 0; n < N; ++n) {
      with[0][n] *= at(inverse + o + n * P);
      for (int i = 0; i < P; ++i) {
        sum[o + n * P + i] += double(plain[0][n][i]);
        product[o + n * P + i] += double(with[0][n][i]);
      }
    }
  });
}

// flow ← value(window, channel) where p passed, 0 elsewhere; bias ← bias + Σ flow
template <class S, class Value>
OBOLUS_INLINE void let_flow(const Block<S>& k, std::size_t start, int windows, S* flow, double* bias, Value&& value) {
  constexpr int P = lanes<S>;
  by_packs<S, 4>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    Wide<S> sum[turns<N>][N] = {};
    by_turns<N>(windows, [&](int t, int turn) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        const int c = o + n * P;
        const std::size_t i = start + std::size_t(t * k.out + c);
        const Wide<S> p = at(k.pooled + i);
        const Wide<S> v = p > 0 ? value(i, c, p) : Wide<S>{};
        at(flow + t * k.out + c) = v;
        sum[turn][n] += v;
      }
    });
    join<S>(sum);
    for (int n = 0; n < N; ++n)
      for (int i = 0; bias != nullptr && i < P; ++i) bias[o + n * P + i] += double(sum[0][n][i]);
  });
}
// The slope in p through batch normalisation: number i, for a pack of channels from c on.
template <class S>
OBOLUS_INLINE auto flow_of(const Block<S>& k) {
  return [&k](std::size_t i, int c, const Wide<S>& p) __attribute__((always_inline)) {
    return at(k.a + c) * at(k.slope + i) + (at(k.fall + c) * p + at(k.constant + c));
  };
}

// ---- The first block ------------------------------------------------------------------------------------------------

// The patches of a picture row by row, so that the pixels of a tap at the four places are 0, 1, 4 and 5 numbers after
// the first.
template <class S>
void lay_patches(const Block<S>& k, Part<S>& part) {
  S* to = part.patches;
  const int row = k.padded_width(), rows = k.rows, columns = k.columns;
  const S* from = image_of(k, part);
  for (int y = 0; y < rows; ++y, from += 2 * row)
    for (int x = 0; x < columns; ++x, to += 16)
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) __builtin_memcpy(to + 4 * r, from + r * row + 2 * x, 4 * sizeof(S));
}

// sum[tap] ← sum[tap] + flow · the pixel of the tap at each channel's own place. Without an instruction to pick
// from a pack, each place takes the channels whose maximum it was, and 0 for the others.
template <class S, int N>
OBOLUS_INLINE void add_window(const S* patch, const Wide<S> (&flow)[N], const Bits<S> (&who)[N], Wide<S> (&sum)[N][9]) {
  if constexpr (can_pick<S>) {
    Bits<S> from[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) from[n] = who[n] + (who[n] & 2);
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i)
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[n][i] += flow[n] * pick<S>(patch + i / 3 * 4 + i % 3, from[n]);
  } else {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q)
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) {
        const Wide<S> of = who[n] == q ? flow[n] : Wide<S>{};
#pragma GCC unroll 9
        for (int i = 0; i < 9; ++i) sum[n][i] += patch[(q / 2 + i / 3) * 4 + q % 2 + i % 3] * of;
      }
  }
}

template <class S, int N, class Value>
OBOLUS_INLINE void first_gradient(const Block<S>& k, Part<S>& part, std::size_t start, int o, Value&& value) {
  constexpr int P = lanes<S>;
  Wide<S> sum[N][9], bias[N] = {};  // stay in registers only if every loop over them is unrolled
#pragma GCC unroll 2
  for (int n = 0; n < N; ++n)
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) sum[n][i] = at(part.gradient + i * k.out + o + n * P);
  for (int t = 0; t < k.windows(); ++t) {
    Wide<S> flow[N];
    Bits<S> who[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      const std::size_t i = start + std::size_t(t * k.out + o + n * P);
      __builtin_prefetch(k.pooled + i + ahead<S>);
      __builtin_prefetch(k.slope + i + ahead<S>);
      const Wide<S> p = at(k.pooled + i);
      who[n] = load_places<S>(k.winner + i);
      flow[n] = p > 0 ? value(i, o + n * P, p) : Wide<S>{};
      bias[n] += flow[n];
    }
    add_window<S, N>(part.patches + 16 * t, flow, who, sum);
  }
#pragma GCC unroll 2
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) at(part.gradient + i * k.out + o + n * P) = sum[n][i];
    for (int i = 0; i < P; ++i) part.bias[o + n * P + i] += double(bias[n][i]);
  }
}
template <class S, class Value>
OBOLUS_INLINE void first_gradients(const Block<S>& k, Part<S>& part, int first, int last, Value&& value) {
  for (int picture = first; picture < last; ++picture) {
    load_picture(k, picture, image_of(k, part));
    lay_patches(k, part);
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    by_packs<S, side_by_side>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
      first_gradient<S, decltype(packs)::count>(k, part, start, o, value);
    });
  }
}

template <class S>
void backward_first(const Block<S>& k, Part<S>& part, int first, int last) {
  first_gradients(k, part, first, last, flow_of(k));
}

// ---- Later blocks ---------------------------------------------------------------------------------------------------

// N packs of input channels from c on: each place and flow is read once for all of them.
template <class S, int N>
OBOLUS_INLINE void taps_gradient_packs(const Block<S>& k, Part<S>& part, int c) {
  constexpr int P = lanes<S>;
  const int room = k.group * k.windows(), own_out = k.own_out;
  const std::ptrdiff_t down = k.padded_width() * P, slab = k.pixels() * P, taps = k.out * 9 * P;
  const S *image = image_of(k, part) + c * k.pixels(), *flows = part.flow;
  S* gradient = part.gradient + c * k.out * 9;
  for (int o = 0; o < own_out; ++o, gradient += 9 * P) {
    Wide<S> sum[N][9];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n)
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) sum[n][i] = at(gradient + n * taps + i * P);
    for (const Passed *one = part.list + o * room, *end = one + part.count[o]; one != end; ++one) {
      const S flow = flow_itself<S>(*one, flows);
      const S* first = settled(image + one->place);
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n, first = settled(first + slab)) {
        const S* x = first;
#pragma GCC unroll 3
        for (int r = 0; r < 3; ++r, x = settled(x + down))
#pragma GCC unroll 3
          for (int i = 0; i < 3; ++i) sum[n][3 * r + i] += flow * at(x + i * P);
      }
    }
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n)
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) at(gradient + n * taps + i * P) = sum[n][i];
  }
}
template <class S>
void taps_gradient(const Block<S>& k, Part<S>& part) {
  by_packs<S, side_by_side>(k.in, [&](int c, auto packs) __attribute__((always_inline)) {
    taps_gradient_packs<S, decltype(packs)::count>(k, part, c);
  });
}

template <class S>
void spread_flow(const Block<S>& k, const Part<S>& part, int count, const Slopes<S>& to) {
  constexpr int P = lanes<S>;
  const S *flows = part.flow, *taps = k.taps;
  const std::ptrdiff_t slab = 9 * P * k.out;
  spread(k, part, count, to,
         [=](auto packs, int c, std::ptrdiff_t flow, std::ptrdiff_t o, std::size_t n, auto&& pixel)
             __attribute__((always_inline)) {
               const S factor = (flows + flow)[n];
               const S* w = taps + (c * k.out * 9 + o * (9 * P)) + n * (9 * P);
#pragma GCC unroll 2
               for (int m = 0; m < decltype(packs)::count; ++m, w += slab) {
                 w = settled(w);
#pragma GCC unroll 9
                 for (int i = 0; i < 9; ++i) pixel(m, i) += factor * at(w + i * P);
               }
             });
}

template <class S>
void backward_later(const Block<S>& k, Part<S>& part, int first, int last) {
  const Block<S>& before = *k.before;
  for (int picture = first; picture < last; picture += k.group) {
    const int count = picture + k.group < last ? k.group : last - picture, windows = count * k.windows();
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    let_flow(k, start, windows, part.flow, part.bias, flow_of(k));
    for (int i = 0; i < count; ++i) load_image(k, picture + i, image_of(k, part) + i * k.in * k.pixels());
    list_by_channel<S, carries<S>>(k, part, start, windows);
    taps_gradient(k, part);
    mark_places(k, part, start, windows);
    const std::size_t to = std::size_t(picture) * std::size_t(before.windows() * before.out);
    spread_flow<S>(k, part, count,
                   {before.slope + to, before.pooled + to, before.mean, before.inverse, part.sum, part.product_sum});
  }
}

template <class S>
void backward(const Block<S>& k, Part<S>& part, int first, int last) {
  k.before == nullptr ? backward_first(k, part, first, last) : backward_later(k, part, first, last);
}

// ---- The whole from its parts ---------------------------------------------------------------------------------------

// gradient[o][9][own_in] ← Σ of the parts' taps, for o = first … last − 1
template <class S>
void collect(const Block<S>& k, const Part<S>* parts, int count, S* gradient, int first, int last) {
  constexpr int P = lanes<S>;
  for (int o = first; o < last; ++o)
    for (int i = 0; i < 9; ++i)
      for (int c = 0; c < k.own_in; c += P) {
        S* to = gradient + (o * 9 + i) * k.own_in + c;
        if (k.before == nullptr) {
          *to = 0;
          for (int n = 0; n < count; ++n) *to += parts[n].gradient[i * k.out + o];
          continue;
        }
        const int from = ((c / P * k.out + o) * 9 + i) * P;
        Wide<S> sum = at(parts[0].gradient + from);
        for (int n = 1; n < count; ++n) sum += at(parts[n].gradient + from);
        if (c + P <= k.own_in) at(to) = sum;
        else
          for (int n = 0; n < k.own_in - c; ++n) to[n] = sum[n];
      }
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
