// Loops over the rows of a batch side by side and over rows of weights, for one instruction set: see kernels/pack.hpp.
#pragma once

#include <cstddef>

#include "kernels/fit/kernels.hpp"
#include "kernels/pack.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::kernels::fit::OBOLUS_INSTRUCTIONS {

using namespace kernels::OBOLUS_INSTRUCTIONS;  // packs

// ---- Rows of weights ------------------------------------------------------------------------------------------------

// `N` packs of a row at a time stay in registers.
template <class S, class V, int N>
OBOLUS_INLINE void gather_packs(const Entry* entries, std::int64_t count, const S* weights, std::size_t width, S* sum) {
  constexpr std::int64_t ahead = 12;
  V acc[N];
  for (int v = 0; v < N; ++v) acc[v] = reinterpret_cast<V*>(sum)[v];
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + ahead < count) {
      const S* next = weights + to_size(entries[i + ahead].slot) * width;
      for (std::size_t b = 0; b < N * sizeof(V); b += 64) __builtin_prefetch(reinterpret_cast<const char*>(next) + b);
    }
    const V* row = reinterpret_cast<const V*>(weights + to_size(entries[i].slot) * width);
    const S value = S(entries[i].value);
    for (int v = 0; v < N; ++v) acc[v] += value * row[v];
  }
  for (int v = 0; v < N; ++v) reinterpret_cast<V*>(sum)[v] = acc[v];
}

template <class S>
void gather(const Entry* entries, std::int64_t count, const S* weights, int width, S* sum) {
  const auto w = to_size(width);
  constexpr int wide = lanes<S>, four = 4;
  int at = 0;
  for (; at + four * wide <= width; at += four * wide)
    gather_packs<S, Wide<S>, four>(entries, count, weights + at, w, sum + at);
  for (; at + wide <= width; at += wide) gather_packs<S, Wide<S>, 1>(entries, count, weights + at, w, sum + at);
  constexpr int narrow = 16 / sizeof(S);
  for (; at + narrow <= width; at += narrow) gather_packs<S, Narrow<S>, 1>(entries, count, weights + at, w, sum + at);
}

template <class S>
void scatter(const Entry* entries, const S* feature_scale, std::int64_t count, S* weights, int width, const S* push) {
  constexpr std::int64_t ahead = 8;
  constexpr int wide = lanes<S>, narrow = 16 / sizeof(S);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + ahead < count) {
      const S* next = weights + to_size(entries[i + ahead].slot) * to_size(width);
      for (int b = 0; b < width; b += int(64 / sizeof(S))) __builtin_prefetch(next + b, 1);
    }
    S* row = weights + to_size(entries[i].slot) * to_size(width);
    const S value = S(entries[i].value) * feature_scale[i];
    int at = 0;
    for (; at + wide <= width; at += wide)
      *reinterpret_cast<Wide<S>*>(row + at) += value * *reinterpret_cast<const Wide<S>*>(push + at);
    for (; at + narrow <= width; at += narrow)
      *reinterpret_cast<Narrow<S>*>(row + at) += value * *reinterpret_cast<const Narrow<S>*>(push + at);
  }
}

template <class S>
void decay(S* row, int lanes, int outputs, S factor, const Moved<S>* moved, int count) {
  for (int i = 0; i < lanes; ++i) row[i] *= factor;
  for (int m = 0; m < count; ++m) {
    S* __restrict__ part = row + moved[m].part * outputs;
    const S more = moved[m].more;
    for (int c = 0; c < outputs; ++c) part[c] += more * row[c];
  }
}

template <class S>
S product(const S* row, const S* by, int count) {
  constexpr int narrow = 16 / sizeof(S);
  Narrow<S> sum{};
  for (int i = 0; i < count; i += narrow)
    sum += *reinterpret_cast<const Narrow<S>*>(row + i) * *reinterpret_cast<const Narrow<S>*>(by + i);
  S all = S(0);
  for (int i = 0; i < narrow; ++i) all += sum[i];
  return all;
}

// ---- The Gram matrix ------------------------------------------------------------------------------------------------

template <class S>
void gram(const Entry* column, int count, S feature_scale, S* dense, S* out, int stride) {
  constexpr int few = 6;  // for fewer entries, pairs cost less than whole rows
  if (count < few) {
    for (int i = 0; i < count; ++i) {
      const S a = feature_scale * S(column[i].value);
      S* row = out + to_size(column[i].slot) * to_size(stride);
      for (int j = 0; j < count; ++j) row[column[j].slot] += a * S(column[j].value);
    }
    return;
  }
  for (int i = 0; i < count; ++i) dense[column[i].slot] += S(column[i].value);
  for (int i = 0; i < count; ++i) {
    const S a = feature_scale * S(column[i].value);
    S* row = out + to_size(column[i].slot) * to_size(stride);
    for (int r = 0; r < stride; r += lanes<S>)
      *reinterpret_cast<Wide<S>*>(row + r) += a * *reinterpret_cast<const Wide<S>*>(dense + r);
  }
  for (int i = 0; i < count; ++i) dense[column[i].slot] = S(0);
}

// ---- Losses ---------------------------------------------------------------------------------------------------------

OBOLUS_INLINE double power_of_two(double k) {
  return __builtin_bit_cast(double, (static_cast<long long>(k) + 1023) << 52);
}
OBOLUS_INLINE float power_of_two(float k) { return __builtin_bit_cast(float, (static_cast<int>(k) + 127) << 23); }

// Within 3 units of the last place for float; Taylor's series to the end of a double's digits for double.
template <class S>
OBOLUS_INLINE S exponential(S x) {
  constexpr bool single = sizeof(S) == 4;
  constexpr S low = single ? S(-87) : S(-708), magic = single ? S(12582912) : S(6755399441055744);
  constexpr S high_part = single ? S(0.693359375) : S(6.93147180369123816490e-01);
  constexpr S low_part = single ? S(-2.12194440e-4) : S(1.90821492927058770002e-10);
  x = x < low ? low : x;
  x = x > -low ? -low : x;
  const S k = (x * S(1.44269504088896341) + magic) - magic;
  const S f = (x - k * high_part) - k * low_part;
  constexpr int degree = single ? 7 : 14;
  S sum = S(1);
  for (int i = degree; i > 0; --i) sum = S(1) + sum * f * (S(1) / S(i));
  return sum * power_of_two(k);
}

// push of a part ← ω J a, with J = diag p − p p' at the scaled logits; `probability` and `push` by class.
template <class S>
OBOLUS_INLINE void curvature_times(const Batch<S>& b, const S* probability, const S* along, S* sum, S* push) {
  for (int r = 0; r < b.stride; ++r) sum[r] = S(0);
  for (int c = 0; c < b.outputs; ++c) {
    const S scale = b.scale ? b.scale[c] : S(1);
    for (int r = 0; r < b.stride; ++r) sum[r] += probability[c * b.stride + r] * scale * along[c * b.stride + r];
  }
  for (int c = 0; c < b.outputs; ++c) {
    const S scale = b.scale ? b.scale[c] : S(1);
    for (int r = 0; r < b.stride; ++r)
      push[c * b.stride + r] =
          b.weight[r] * scale * probability[c * b.stride + r] * (scale * along[c * b.stride + r] - sum[r]);
  }
}

// probability ← softmax of the scaled and shifted logits; `max` is scratch.
template <class S>
OBOLUS_INLINE void softmax(const Batch<S>& b, S* probability, S* max) {
  const int n = b.stride;
  for (int r = 0; r < n; ++r) max[r] = S(-1e30);
  for (int c = 0; c < b.outputs; ++c) {
    const S scale = b.scale ? b.scale[c] : S(1), shift = b.shift ? b.shift[c] : S(0);
    for (int r = 0; r < n; ++r) {
      const S l = scale * b.logits[c * n + r] + shift;
      probability[c * n + r] = l;
      max[r] = l > max[r] ? l : max[r];
    }
  }
  S* sum = max + n;
  for (int r = 0; r < n; ++r) sum[r] = S(0);
  for (int c = 0; c < b.outputs; ++c)
    for (int r = 0; r < n; ++r) sum[r] += probability[c * n + r] = exponential<S>(probability[c * n + r] - max[r]);
  for (int r = 0; r < n; ++r) sum[r] = S(1) / sum[r];
  for (int c = 0; c < b.outputs; ++c)
    for (int r = 0; r < n; ++r) probability[c * n + r] *= sum[r];
}

// The explicit derivative of the residuals by the part's hyperparameter. For shift_m the logit moves by e_m, for ln
// scale_m by scale_m l_m e_m; there the residual's own factor scale_m moves too.
template <class S>
OBOLUS_INLINE void explicit_term(const Batch<S>& b, int j, const S* probability, S* push) {
  const int n = b.stride, m = b.part_class[j];
  const Part kind = b.part[j];
  if (kind == Part::rate)
    for (int i = 0; i < b.outputs * n; ++i) push[i] += b.push[i];
  if (kind == Part::replay)
    for (int c = 0; c < b.outputs; ++c)
      for (int r = 0; r < n; ++r) push[c * n + r] += b.replayed[r] * b.push[c * n + r];
  if (kind != Part::shift && kind != Part::scale) return;
  for (int c = 0; c < b.outputs; ++c) {
    const S scale = b.scale ? b.scale[c] : S(1), own = c == m ? S(1) : S(0);
    const S factor = b.scale ? b.scale[m] : S(1);
    for (int r = 0; r < n; ++r) {
      const S moved = kind == Part::shift ? S(1) : factor * b.logits[m * n + r];
      push[c * n + r] += b.weight[r] * scale * probability[c * n + r] * (own - probability[m * n + r]) * moved;
    }
  }
  if (kind == Part::scale)
    for (int r = 0; r < n; ++r) push[m * n + r] += b.push[m * n + r];
}

template <class S>
void residuals_softmax(const Batch<S>& b) {
  const int n = b.stride, lane = b.outputs * n;
  S *probability = b.scratch, *sums = b.scratch + lane;
  softmax<S>(b, probability, sums);
  for (int c = 0; c < b.outputs; ++c) {
    const S scale = b.scale ? b.scale[c] : S(1);
    for (int r = 0; r < n; ++r)
      b.push[c * n + r] = b.weight[r] * scale * (probability[c * n + r] - (b.label[r] == c ? S(1) : S(0)));
  }
  for (int j = 1; j < b.parts; ++j) {
    curvature_times<S>(b, probability, b.logits + j * lane, sums, b.push + j * lane);
    explicit_term<S>(b, j, probability, b.push + j * lane);
  }
}

// One output: the other parts, from `curvature` and the residuals.
template <class S>
OBOLUS_INLINE void other_parts(const Batch<S>& b, const S* curvature) {
  const int n = b.stride;
  for (int j = 1; j < b.parts; ++j) {
    for (int r = 0; r < n; ++r) b.push[j * n + r] = curvature[r] * b.logits[j * n + r];
    if (b.part[j] == Part::rate)
      for (int r = 0; r < n; ++r) b.push[j * n + r] += b.push[r];
    if (b.part[j] == Part::replay)
      for (int r = 0; r < n; ++r) b.push[j * n + r] += b.replayed[r] * b.push[r];
  }
}

template <class S>
void residuals_logistic(const Batch<S>& b) {
  S* curvature = b.scratch;
  for (int r = 0; r < b.stride; ++r) {
    const S p = S(1) / (S(1) + exponential<S>(-b.logits[r]));
    b.push[r] = b.weight[r] * (p - (b.label[r] == 1 ? S(1) : S(0)));
    curvature[r] = b.weight[r] * p * (S(1) - p);
  }
  other_parts<S>(b, curvature);
}

template <class S>
void residuals_squared(const Batch<S>& b) {
  for (int r = 0; r < b.stride; ++r) b.push[r] = b.weight[r] * (b.logits[r] - b.target[r]);
  other_parts<S>(b, b.weight);
}

// ---- A step ---------------------------------------------------------------------------------------------------------

// `L` lanes by `N` packs of rows.
template <class S, int L, int N>
OBOLUS_INLINE void step_block(const Batch<S>& b, const S* gram, S alpha, int lane, int row) {
  Wide<S> acc[L][N];
  for (int l = 0; l < L; ++l)
    for (int v = 0; v < N; ++v) acc[l][v] = Wide<S>{};
  for (int k = 0; k < b.rows; ++k) {
    const Wide<S>* g = reinterpret_cast<const Wide<S>*>(gram + to_size(k) * b.stride + row);
    for (int l = 0; l < L; ++l) {
      const S e = b.push[(lane + l) * b.stride + k];
      for (int v = 0; v < N; ++v) acc[l][v] += e * g[v];
    }
  }
  for (int l = 0; l < L; ++l)
    for (int v = 0; v < N; ++v)
      reinterpret_cast<Wide<S>*>(b.logits + (lane + l) * b.stride + row)[v] -= alpha * acc[l][v];
}

template <class S, int L>
OBOLUS_INLINE void step_lanes(const Batch<S>& b, const S* gram, S alpha, int lane) {
  constexpr int packs = OBOLUS_PACK == 64 ? 4 : 2;
  int row = 0;
  for (; row + packs * lanes<S> <= b.stride; row += packs * lanes<S>)
    step_block<S, L, packs>(b, gram, alpha, lane, row);
  for (; row < b.stride; row += lanes<S>) step_block<S, L, 1>(b, gram, alpha, lane, row);
}

template <class S>
void step(const Batch<S>& b, const S* gram, S alpha) {
  const int all = b.parts * b.outputs;
  int lane = 0;
  for (; lane + 4 <= all; lane += 4) step_lanes<S, 4>(b, gram, alpha, lane);
  for (; lane < all; ++lane) step_lanes<S, 1>(b, gram, alpha, lane);
  for (int i = 0; i < all * b.stride; i += lanes<S>)
    *reinterpret_cast<Wide<S>*>(b.total + i) += alpha * *reinterpret_cast<const Wide<S>*>(b.push + i);
}

}  // namespace obolus::kernels::fit::OBOLUS_INSTRUCTIONS
