// The passes along a direction of the weights: the R-operator (Pearlmutter 1994) of every step. The forward pass has
// found which places pass, and the derivative of a maximum is that of its winner, so the tangent of a convolution is
// needed in one place of four.
#pragma once

#include "kernels/network/backward.hpp"

namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS {

// p_t and p in the sums that batch normalisation needs.
template <class S>
void tangent_sums(const Block<S>& k, Part<S>& part, std::size_t start, int windows) {
  sums(k.pooled_t + start, k.pooled + start, k.mean, k.inverse, k.out, windows, part.sum, part.product_sum);
}

// One place of four from its own pixels where an instruction can pick them, else all four and a selection.
template <class S, int N>
OBOLUS_INLINE void tangent_first_packs(const Block<S>& k, const Part<S>& part, std::size_t start, int o) {
  constexpr int P = lanes<S>;
  if constexpr (can_pick<S>) {
    Wide<S> w[N][9];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n)
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) w[n][i] = at(k.taps_t + i * k.out + o + n * P);
    for (int t = 0; t < k.windows(); ++t)
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) {
        const std::size_t to = start + std::size_t(t * k.out + o + n * P);
        const Bits<S> who = load_places<S>(k.winner + to), from = who + (who & 2);
        const S* patch = part.patches + 16 * t;
        Wide<S> won = at(k.bias_t + o + n * P);
        __builtin_prefetch(k.pooled + to + ahead<S>);
        __builtin_prefetch(k.pooled_t + to + ahead<S>, 1);
#pragma GCC unroll 9
        for (int i = 0; i < 9; ++i) won += w[n][i] * pick<S>(patch + i / 3 * 4 + i % 3, from);
        at(k.pooled_t + to) = at(k.pooled + to) > 0 ? won : Wide<S>{};
      }
  } else
    convolve_first<S, N>(k, image_of(k, part), k.taps_t + o, k.bias_t + o,
                         [&](int i, const Wide<S>(&y)[4]) __attribute__((always_inline)) {
                           const std::size_t to = start + std::size_t(o + i);
                           const Bits<S> who = load_places<S>(k.winner + to);
                           const Wide<S> low = who == 0 ? y[0] : y[1], high = who == 2 ? y[2] : y[3],
                                         won = who < 2 ? low : high;
                           at(k.pooled_t + to) = at(k.pooled + to) > 0 ? won : Wide<S>{};
                         });
}
template <class S>
void tangent_first(const Block<S>& k, Part<S>& part, int first, int last) {
  for (int picture = first; picture < last; ++picture) {
    load_picture(k, picture, image_of(k, part));
    if constexpr (can_pick<S>) lay_patches(k, part);
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    by_packs<S, side_by_side>(k.out, [&](int o, auto packs) __attribute__((always_inline)) {
      tangent_first_packs<S, decltype(packs)::count>(k, part, start, o);
    });
    tangent_sums(k, part, start, k.windows());
  }
}

// Inner products of weights and images, slab by slab of channels: w_t·image + w·image_t at every place that passed.
template <class S>
void dot_places(const Block<S>& k, Part<S>& part, int o) {
  constexpr int P = lanes<S>;
  const int room = k.group * k.windows(), down = k.padded_width() * P;
  const Passed* list = part.list + o * room;
  for (int c = 0; c < k.in; c += P) {
    const S *image = image_of(k, part) + c * k.pixels(), *image_t = image_t_of(k, part) + c * k.pixels();
    const int taps = (c / P * k.out + o) * 9 * P;
    Wide<S> w[9], w_t[9];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) {
      w[i] = at(k.taps + taps + i * P);
      w_t[i] = at(k.taps_t + taps + i * P);
    }
    for (int n = 0; n < part.count[o]; ++n) {
      const S *x = settled(image + list[n].place), *x_t = settled(image_t + list[n].place);
      Wide<S> sum = c == 0 ? Wide<S>{} : at(part.dots + n * P), sum_t{};
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r, x = settled(x + down), x_t = settled(x_t + down))
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) {
          sum += w_t[3 * r + i] * at(x + i * P);
          sum_t += w[3 * r + i] * at(x_t + i * P);
        }
      at(part.dots + n * P) = sum + sum_t;
    }
  }
}

template <class S>
void tangent_later(const Block<S>& k, Part<S>& part, int first, int last) {
  constexpr int P = lanes<S>;
  const int image = k.in * k.pixels(), room = k.group * k.windows();
  for (int picture = first; picture < last; picture += k.group) {
    const int count = picture + k.group < last ? k.group : last - picture, windows = count * k.windows();
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    for (int i = 0; i < count; ++i) {
      load_image(k, picture + i, image_of(k, part) + i * image);
      load_image_tangent(k, picture + i, image_t_of(k, part) + i * image);
    }
    list_by_channel<S, false>(k, part, start, windows);
    S* pooled_t = k.pooled_t + start;
    for (int i = 0; i < windows * k.out; i += P) at(pooled_t + i) = Wide<S>{};
    for (int o = 0; o < k.own_out; ++o) {
      dot_places(k, part, o);
      for (int n = 0; n < part.count[o]; ++n)
        pooled_t[part.list[o * room + n].flow] = total<S>(at(part.dots + n * P)) + k.bias_t[o];
    }
    tangent_sums(k, part, start, windows);
  }
}

template <class S>
void tangent(const Block<S>& k, Part<S>& part, int first, int last) {
  k.before == nullptr ? tangent_first(k, part, first, last) : tangent_later(k, part, first, last);
}

// ---- Backwards ------------------------------------------------------------------------------------------------------

template <class S>
OBOLUS_INLINE auto flow_tangent_of(const Block<S>& k) {
  return [&k](std::size_t i, int c, const Wide<S>& p) __attribute__((always_inline)) {
    __builtin_prefetch(k.slope_t + i + ahead<S>);
    __builtin_prefetch(k.pooled_t + i + ahead<S>);
    return at(k.a + c) * at(k.slope_t + i) + at(k.a_t + c) * at(k.slope + i) +
           (at(k.fall + c) * at(k.pooled_t + i) + (at(k.fall_t + c) * p + at(k.constant_t + c)));
  };
}

template <class S>
void taps_gradient_tangent(const Block<S>& k, Part<S>& part) {
  constexpr int P = lanes<S>;
  const int room = k.group * k.windows(), down = k.padded_width() * P;
  for (int c = 0; c < k.in; c += P)
    for (int o = 0; o < k.own_out; ++o) {
      const Passed* list = part.list + o * room;
      const S *image = image_of(k, part) + c * k.pixels(), *image_t = image_t_of(k, part) + c * k.pixels();
      S* gradient = part.gradient + (c / P * k.out + o) * 9 * P;
      Wide<S> sum[9];
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) sum[i] = at(gradient + i * P);
      for (int n = 0; n < part.count[o]; ++n) {
        const S flow = part.flow[list[n].flow], flow_t = part.flow_t[list[n].flow];
        const S *x = settled(image + list[n].place), *x_t = settled(image_t + list[n].place);
#pragma GCC unroll 3
        for (int r = 0; r < 3; ++r, x = settled(x + down), x_t = settled(x_t + down))
#pragma GCC unroll 3
          for (int i = 0; i < 3; ++i) {
            sum[3 * r + i] += flow_t * at(x + i * P);
            sum[3 * r + i] += flow * at(x_t + i * P);
          }
      }
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) at(gradient + i * P) = sum[i];
    }
}

template <class S>
void spread_flow_tangent(const Block<S>& k, const Part<S>& part, int count, const Slopes<S>& to) {
  constexpr int P = lanes<S>;
  const S *flows = part.flow, *flows_t = part.flow_t, *taps = k.taps, *taps_t = k.taps_t;
  const std::ptrdiff_t slab = 9 * P * k.out;
  spread(k, part, count, to,
         [=](auto packs, int c, std::ptrdiff_t flow, std::ptrdiff_t o, std::size_t n, auto&& pixel)
             __attribute__((always_inline)) {
               const S factor = (flows + flow)[n], factor_t = (flows_t + flow)[n];
               std::ptrdiff_t tap = c * k.out * 9 + o * (9 * P) + std::ptrdiff_t(n) * (9 * P);
#pragma GCC unroll 2
               for (int m = 0; m < decltype(packs)::count; ++m, tap += slab) {
                 const S *w = settled(taps + tap), *w_t = settled(taps_t + tap);
#pragma GCC unroll 9
                 for (int i = 0; i < 9; ++i) {
                   pixel(m, i) += factor_t * at(w + i * P);
                   pixel(m, i) += factor * at(w_t + i * P);
                 }
               }
             });
}

template <class S>
void tangent_backward_later(const Block<S>& k, Part<S>& part, int first, int last) {
  const Block<S>& before = *k.before;
  const int image = k.in * k.pixels();
  for (int picture = first; picture < last; picture += k.group) {
    const int count = picture + k.group < last ? k.group : last - picture, windows = count * k.windows();
    const std::size_t start = std::size_t(picture) * std::size_t(k.windows() * k.out);
    let_flow(k, start, windows, part.flow, static_cast<double*>(nullptr), flow_of(k));
    let_flow(k, start, windows, part.flow_t, part.bias, flow_tangent_of(k));
    for (int i = 0; i < count; ++i) {
      load_image(k, picture + i, image_of(k, part) + i * image);
      load_image_tangent(k, picture + i, image_t_of(k, part) + i * image);
    }
    list_by_channel<S, false>(k, part, start, windows);
    taps_gradient_tangent(k, part);
    mark_places(k, part, start, windows);
    const std::size_t to = std::size_t(picture) * std::size_t(before.windows() * before.out);
    spread_flow_tangent<S>(
        k, part, count,
        {before.slope_t + to, before.pooled + to, before.mean, before.inverse, part.sum, part.product_sum});
    sums(before.slope + to, before.pooled_t + to, before.mean_t, before.inverse, before.out, count * before.windows(),
         part.unused, part.cross_sum);
  }
}

template <class S>
void tangent_backward(const Block<S>& k, Part<S>& part, int first, int last) {
  k.before == nullptr ? first_gradients(k, part, first, last, flow_tangent_of(k))
                      : tangent_backward_later(k, part, first, last);
}

}  // namespace obolus::kernels::network::OBOLUS_INSTRUCTIONS
