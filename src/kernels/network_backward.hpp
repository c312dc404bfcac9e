// From the slope in a block's output to those in its weights and in what it read, along the places that passed.
#include "kernels/network_places.hpp"

template <class S>
void sums(const S* u, const S* p, const S* mean, const S* inverse, int out, int count, double* sum, double* product) {
  constexpr int P = lanes<S>;
  by_packs<S, 4>(out, [&](int o, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    Wide<S> plain[N] = {}, with[N] = {};
    const S *left = u + o, *right = p + o;
    for (int t = 0; t < count; ++t, left += out, right += out)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        plain[n] += at(left + n * P);
        with[n] += at(left + n * P) * (at(right + n * P) - at(mean + o + n * P));
      }
    for (int n = 0; n < N; ++n) {
      with[n] *= at(inverse + o + n * P);
      for (int i = 0; i < P; ++i)
        sum[o + n * P + i] += double(plain[n][i]), product[o + n * P + i] += double(with[n][i]);
    }
  });
}

// flow ← value(window, channel) where p passed, 0 elsewhere; bias ← bias + Σ flow
template <class S, class Value>
OBOLUS_INLINE void let_flow(const Block<S>& k, std::size_t start, int windows, S* flow, double* bias, Value&& value) {
  constexpr int P = lanes<S>;
  by_packs<S, 4>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
    constexpr int N = decltype(packs)::count;
    Wide<S> sum[N] = {};
    for (int t = 0; t < windows; ++t)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        const int c = o + n * P;
        const std::size_t i = start + std::size_t(t * k.out + c);
        const Wide<S> p = at(k.pooled + i);
        const Wide<S> v = p > 0 ? value(i, c, p) : Wide<S>{};
        at(flow + t * k.out + c) = v;
        sum[n] += v;
      }
    for (int n = 0; n < N; ++n)
      for (int i = 0; bias != nullptr && i < P; ++i) bias[o + n * P + i] += double(sum[n][i]);
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

// Each place takes the channels whose maximum it was, and nothing of the others. The flow is used where it is found.
template <class S, int N, class Value>
OBOLUS_INLINE void first_gradient(const Block<S>& k, Part<S>& part, std::size_t start, int o, Value&& value) {
  constexpr int P = lanes<S>;
  Wide<S> sum[N][9], bias[N] = {};
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < 9; ++i) sum[n][i] = at(part.gradient + i * k.out + o + n * P);
  for (int t = 0; t < k.windows(); ++t) {
    const S* patch = image_of(k, part) + part.corner[t];
    Wide<S> of[N][4];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      const std::size_t i = start + std::size_t(t * k.out + o + n * P);
      const Bits<S> who = load_places<S>(k.winner + i);
      const Wide<S> p = at(k.pooled + i), flow = p > 0 ? value(i, o + n * P, p) : Wide<S>{};
      bias[n] += flow;
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) of[n][q] = who == q ? flow : Wide<S>{};
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const S pixel = patch[i / 4 * k.padded_width() + i % 4];
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        const int dy = i / 4 - q / 2, dx = i % 4 - q % 2;
        if (dy >= 0 && dy < 3 && dx >= 0 && dx < 3)
#pragma GCC unroll 2
          for (int n = 0; n < N; ++n) sum[n][dy * 3 + dx] += pixel * of[n][q];
      }
    }
  }
  for (int n = 0; n < N; ++n) {
    for (int i = 0; i < 9; ++i) at(part.gradient + i * k.out + o + n * P) = sum[n][i];
    for (int i = 0; i < P; ++i) part.bias[o + n * P + i] += double(bias[n][i]);
  }
}
template <class S, class Value>
OBOLUS_INLINE void first_gradients(const Block<S>& k, Part<S>& part, int first, int last, Value&& value) {
  find_corners(k, part, k.windows());
  for (int picture = first; picture < last; ++picture) {
    load_picture(k, picture, image_of(k, part));
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
        const S* x = image + list[n].place;
#pragma GCC unroll 9
        for (int i = 0; i < 9; ++i) sum[i] += flow * at(x + i / 3 * down + i % 3 * P);
      }
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) at(gradient + i * P) = sum[i];
    }
}

// A row of windows' part of the slope in the image: `add` adds what a channel of a window gives to pixel i of the nine around its place.
// Neighbouring patches share two columns, which stay in registers.
template <class S, class Add>
OBOLUS_INLINE void spread_row(const Block<S>& k, const std::uint64_t* passed, S* back, Add&& add) {
  constexpr int P = lanes<S>;
  const int down = k.padded_width() * P, words = words_of(k);
  Wide<S> sum[4][4] = {};
  const auto store = [&](S* to) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) at(to + r * down) += sum[r][0], at(to + r * down + P) += sum[r][1];
  };
  for (int x = 0; x < k.columns; ++x, back += 2 * P) {
    for (int word = 0; word < words; ++word, passed += 4)
#pragma GCC unroll 4
      for (int p = 0; p < 4; ++p)
        for (std::uint64_t bits = passed[p]; bits != 0; bits &= bits - 1) {
          const int o = 64 * word + __builtin_ctzll(bits);
#pragma GCC unroll 9
          for (int i = 0; i < 9; ++i) add(x, o, i, sum[p / 2 + i / 3][p % 2 + i % 3]);
        }
    store(back);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) sum[r][0] = sum[r][2], sum[r][1] = sum[r][3], sum[r][2] = sum[r][3] = Wide<S>{};
  }
  store(back);
}

// back ← the slope in the image of the picture whose first window is number t of the group's.
template <class S, class Add>
OBOLUS_INLINE void spread(const Block<S>& k, Part<S>& part, int t, Add&& add) {
  constexpr int P = lanes<S>;
  for (int i = 0; i < k.in * k.pixels(); i += P) at(part.back + i) = Wide<S>{};
  for (int c = 0; c < k.in; c += P)
    for (int y = 0; y < k.rows; ++y) {
      const int first = t + y * k.columns;
      spread_row<S>(k, part.passed + 4 * words_of(k) * first, part.back + c * k.pixels() + 2 * y * k.padded_width() * P,
                    [&](int x, int o, int i, Wide<S>& sum) __attribute__((always_inline)) {
                      add((first + x) * k.out + o, ((c / P * k.out + o) * 9 + i) * P, sum);
                    });
    }
}
template <class S>
void spread_flow(const Block<S>& k, Part<S>& part, int t) {
  spread(k, part, t, [&](int flow, int tap, Wide<S>& sum) __attribute__((always_inline)) {
    sum += part.flow[flow] * at(k.taps + tap);
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
      spread_flow(k, part, i * k.windows());
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
