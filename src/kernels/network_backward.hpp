// From the slope in a block's output to those in its weights and in what it read, along the places that passed.
#include "kernels/network_places.hpp"

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
    join(plain), join(with);
    for (int n = 0; n < N; ++n) {
      with[0][n] *= at(inverse + o + n * P);
      for (int i = 0; i < P; ++i)
        sum[o + n * P + i] += double(plain[0][n][i]), product[o + n * P + i] += double(with[0][n][i]);
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
    join(sum);
    for (int n = 0; n < N; ++n)
      for (int i = 0; bias != nullptr && i < P; ++i) bias[o + n * P + i] += double(sum[0][n][i]);
  });
}
// The slope in p, as batch normalisation has it: number i, of a pack of channels from c on.
template <class S>
OBOLUS_INLINE auto flow_of(const Block<S>& k) {
  return [&k](std::size_t i, int c, const Wide<S>& p) __attribute__((always_inline)) {
    return at(k.a + c) * at(k.slope + i) + (at(k.fall + c) * p + at(k.constant + c));
  };
}

// ---- The first block ----------------------------------------------------------------------------------------------------

// The patches of a picture row by row, so that the pixels of a tap at the four places are 0, 1, 4 and 5 numbers after the first.
template <class S>
void lay_patches(const Block<S>& k, Part<S>& part) {
  S* to = part.patches;
  for (int y = 0; y < k.rows; ++y)
    for (int x = 0; x < k.columns; ++x)
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r, to += 4) {
        const S* from = image_of(k, part) + (2 * y + r) * k.padded_width() + 2 * x;
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) to[i] = from[i];
      }
}

// sum[tap] ← sum[tap] + flow · the pixel of the tap at each channel's own place. Where packs cannot be picked from, each place takes the
// channels whose maximum it was, and nothing of the others.
template <class S, int N>
OBOLUS_INLINE void add_window(const S* patch, const Wide<S> (&flow)[N], const Bits<S> (&who)[N], Wide<S> (&sum)[N][9]) {
  if constexpr (can_pick<S>) {
    Bits<S> from[N];
    for (int n = 0; n < N; ++n) from[n] = who[n] + (who[n] & 2);
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i)
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[n][i] += flow[n] * pick<S>(at(patch + i / 3 * 4 + i % 3), from[n]);
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

// The flow is used where it is found.
template <class S, int N, class Value>
OBOLUS_INLINE void first_gradient(const Block<S>& k, Part<S>& part, std::size_t start, int o, Value&& value) {
  constexpr int P = lanes<S>;
  Wide<S> sum[N][9], bias[N] = {};
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < 9; ++i) sum[n][i] = at(part.gradient + i * k.out + o + n * P);
  for (int t = 0; t < k.windows(); ++t) {
    Wide<S> flow[N];
    Bits<S> who[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      const std::size_t i = start + std::size_t(t * k.out + o + n * P);
      __builtin_prefetch(k.pooled + i + ahead<S>), __builtin_prefetch(k.slope + i + ahead<S>);
      const Wide<S> p = at(k.pooled + i);
      who[n] = load_places<S>(k.winner + i);
      flow[n] = p > 0 ? value(i, o + n * P, p) : Wide<S>{};
      bias[n] += flow[n];
    }
    add_window<S, N>(part.patches + 16 * t, flow, who, sum);
  }
  for (int n = 0; n < N; ++n) {
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

// ---- Later blocks -------------------------------------------------------------------------------------------------------

template <class S>
void taps_gradient(const Block<S>& k, Part<S>& part) {
  constexpr int P = lanes<S>;
  const int room = k.group * k.windows(), down = k.padded_width() * P;
  for (int c = 0; c < k.in; c += P)
    for (int o = 0; o < k.own_out; ++o) {
      const Passed* list = part.list + o * room;
      const S* image = image_of(k, part) + c * k.pixels();
      S* gradient = part.gradient + (c / P * k.out + o) * 9 * P;
      Wide<S> sum[9];
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) sum[i] = at(gradient + i * P);
      for (int n = 0; n < part.count[o]; ++n) {
        const S flow = part.flow[list[n].flow];
        const S* x = settled(image + list[n].place);
#pragma GCC unroll 3
        for (int r = 0; r < 3; ++r, x = settled(x + down))
#pragma GCC unroll 3
          for (int i = 0; i < 3; ++i) sum[3 * r + i] += flow * at(x + i * P);
      }
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) at(gradient + i * P) = sum[i];
    }
}

// A row of windows' part of the slope in the image: `add` adds what a channel of a window gives to the nine pixels around its place.
// Neighbouring patches share two columns, which stay in registers.
template <class S, class Add>
OBOLUS_INLINE void spread_row(const Block<S>& k, const std::uint64_t* passed, std::ptrdiff_t flow, S* back, Add&& add) {
  constexpr int P = lanes<S>;
  const int down = k.padded_width() * P, words = words_of(k), columns = k.columns, out = k.out;
  Wide<S> sum[4][4] = {};
  const auto store = [&](S* to) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) at(to + r * down) += sum[r][0], at(to + r * down + P) += sum[r][1];
  };
  for (int x = 0; x < columns; ++x, back += 2 * P, flow += out) {
    for (int word = 0; word < words; ++word, passed += 4)
#pragma GCC unroll 4
      for (int p = 0; p < 4; ++p)
        for (std::uint64_t bits = passed[p]; bits != 0; bits &= bits - 1) {
          const std::ptrdiff_t o = 64 * word, n = __builtin_ctzll(bits);
          add(flow + o + n, o * (9 * P) + n * (9 * P),
              [&](int i) __attribute__((always_inline)) -> Wide<S>& { return sum[p / 2 + i / 3][p % 2 + i % 3]; });
        }
    store(back);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) sum[r][0] = sum[r][2], sum[r][1] = sum[r][3], sum[r][2] = sum[r][3] = Wide<S>{};
  }
  store(back);
}

// back ← the slope in the image of the picture whose first window is number t of the group's. add(slab, number of flow, tap, nine pixels)
// Meanwhile the memory of `slope`, where `back` will go, is called for, a share with every row.
template <class S, class Add>
OBOLUS_INLINE void spread(const Block<S>& k, Part<S>& part, int t, const S* slope, Add&& add) {
  constexpr int P = lanes<S>;
  for (int i = 0; i < k.in * k.pixels(); i += P) at(part.back + i) = Wide<S>{};
  const int share = (k.height * k.width + k.rows - 1) / k.rows * P;
  for (int c = 0; c < k.in; c += P)
    for (int y = 0; y < k.rows; ++y) {
      for (int i = 0; i < share; i += P) __builtin_prefetch(slope + i, 1);
      slope += share;
      const int first = t + y * k.columns;
      spread_row<S>(k, part.passed + 4 * words_of(k) * first, first * k.out,
                    part.back + c * k.pixels() + 2 * y * k.padded_width() * P,
                    [&, slab = c * k.out * 9](auto... place) __attribute__((always_inline)) { add(slab, place...); });
    }
}
template <class S>
void spread_flow(const Block<S>& k, Part<S>& part, int t, const S* slope) {
  const S *flows = part.flow, *taps = k.taps;
  spread(k, part, t, slope,
         [=](int slab, std::ptrdiff_t flow, std::ptrdiff_t tap, auto&& pixel) __attribute__((always_inline)) {
           const S factor = flows[flow];
           const S* w = settled(taps + slab + tap);
#pragma GCC unroll 9
           for (int i = 0; i < 9; ++i) pixel(i) += factor * at(w + i * lanes<S>);
         });
}

// The slope in the image is that in the output of the block before.
template <class S>
void hand_back(const Block<S>& k, const S* back, S* slope) {
  constexpr int P = lanes<S>;
  for (int y = 0; y < k.height; ++y)
    for (int x = 0; x < k.width; ++x) {
      const S* from = back + ((y + 1) * k.padded_width() + x + 1) * P;
      for (int c = 0; c < k.in; c += P, slope += P, from += k.pixels() * P) at(slope) = at(from);
    }
}

template <class S>
void backward_later(const Block<S>& k, Part<S>& part, int first, int last) {
  const Block<S>& before = *k.before;
  for (int picture = first; picture < last; picture += k.group) {
    const int count = picture + k.group < last ? k.group : last - picture, windows = count * k.windows();
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    let_flow(k, start, windows, part.flow, part.bias, flow_of(k));
    for (int i = 0; i < count; ++i) load_image(k, picture + i, image_of(k, part) + i * k.in * k.pixels());
    list_by_channel(k, part, start, windows);
    taps_gradient(k, part);
    mark_places(k, part, start, windows);
    for (int i = 0; i < count; ++i) {
      const std::size_t to = std::size_t(picture + i) * std::size_t(before.windows() * before.out);
      spread_flow(k, part, i * k.windows(), before.slope + to);
      hand_back(k, part.back, before.slope + to);
      sums(before.slope + to, before.pooled + to, before.mean, before.inverse, before.out, before.windows(), part.sum,
           part.product_sum);
    }
  }
}

template <class S>
void backward(const Block<S>& k, Part<S>& part, int first, int last) {
  k.before == nullptr ? backward_first(k, part, first, last) : backward_later(k, part, first, last);
}

// ---- The whole from its parts -----------------------------------------------------------------------------------------

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
