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

template <class S>
void add_line(const S* line, S by, int count, S* sum) {
  constexpr int wide = lanes<S>, narrow = 16 / sizeof(S);
  int k = 0;
  for (; k + wide <= count; k += wide)
    *reinterpret_cast<Wide<S>*>(sum + k) += by * *reinterpret_cast<const Wide<S>*>(line + k);
  for (; k < count; k += narrow)
    *reinterpret_cast<Narrow<S>*>(sum + k) += by * *reinterpret_cast<const Narrow<S>*>(line + k);
}

template <class S>
void absorb(const S* line, int count, S scale, const S* pushes, S* row, int width) {
  constexpr int wide = lanes<S>, narrow = 16 / sizeof(S);
  for (int k = 0; k < count; ++k) {
    if (line[k] == S(0)) continue;
    const S by = scale * line[k];
    const S* push = pushes + to_size(k) * to_size(width);
    int at = 0;
    for (; at + wide <= width; at += wide)
      *reinterpret_cast<Wide<S>*>(row + at) += by * *reinterpret_cast<const Wide<S>*>(push + at);
    for (; at + narrow <= width; at += narrow)
      *reinterpret_cast<Narrow<S>*>(row + at) += by * *reinterpret_cast<const Narrow<S>*>(push + at);
  }
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

// The same for a pack.
template <class S>
OBOLUS_INLINE Wide<S> exponentials(Wide<S> x) {
  using Whole = typename PackOf<S>::whole;
  constexpr bool single = sizeof(S) == 4;
  constexpr S low = single ? S(-87) : S(-708), magic = single ? S(12582912) : S(6755399441055744);
  constexpr S high_part = single ? S(0.693359375) : S(6.93147180369123816490e-01);
  constexpr S low_part = single ? S(-2.12194440e-4) : S(1.90821492927058770002e-10);
  x = x < low ? Wide<S>{} + low : x;
  x = x > -low ? Wide<S>{} - low : x;
  const Wide<S> k = (x * S(1.44269504088896341) + magic) - magic;
  const Wide<S> f = (x - k * high_part) - k * low_part;
  constexpr int degree = single ? 7 : 14;
  Wide<S> sum = Wide<S>{} + S(1);
  for (int i = degree; i > 0; --i) sum = S(1) + sum * f * (S(1) / S(i));
  const Whole power = (__builtin_convertvector(k, Whole) + (single ? 127 : 1023)) << (single ? 23 : 52);
  return sum * reinterpret_cast<const Wide<S>&>(power);
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
  if (kind == Part::recent)
    for (int c = 0; c < b.outputs; ++c)
      for (int r = 0; r < n; ++r) push[c * n + r] += b.recent[r] * b.push[c * n + r];
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

// A pack of rows, D derivatives, logits neither scaled nor shifted. With p = e/Σe at the logits, a the derivative of
// the logits: push ω (p − class), and for a derivative ω p (a − Σ p a) plus its share of the former.
template <class S, int D>
OBOLUS_INLINE void softmax_block(const Batch<S>& b, int row) {
  const int n = b.stride, lane = b.outputs * n;
  const auto at = [row](auto* p) -> auto& { return *reinterpret_cast<Wide<S>*>(const_cast<S*>(p) + row); };
  Wide<S> max = at(b.logits), sum{}, sums[D + 1] = {}, share[D + 1], label;
  for (int c = 1; c < b.outputs; ++c) {
    const Wide<S> l = at(b.logits + c * n);
    max = l > max ? l : max;
  }
  for (int c = 0; c < b.outputs; ++c) {
    const Wide<S> e = exponentials<S>(at(b.logits + c * n) - max);
    at(b.scratch + c * n) = e;
    sum += e;
    for (int j = 0; j < D; ++j) sums[j] += e * at(b.logits + (j + 1) * lane + c * n);
  }
  const Wide<S> inverse = S(1) / sum, weight = at(b.weight);
  for (int r = 0; r < lanes<S>; ++r) label[r] = S(b.label[row + r]);
  for (int j = 0; j < D; ++j) {
    sums[j] *= inverse;
    const Part kind = b.part[j + 1];
    share[j] = kind == Part::rate     ? Wide<S>{} + S(1)
               : kind == Part::replay ? at(b.replayed)
               : kind == Part::recent ? at(b.recent)
                                      : Wide<S>{};
  }
  for (int c = 0; c < b.outputs; ++c) {
    const Wide<S> p = at(b.scratch + c * n) * inverse, weighted = weight * p;
    const Wide<S> push = weighted - (label == S(c) ? weight : Wide<S>{});
    at(b.push + c * n) = push;
    for (int j = 0; j < D; ++j)
      at(b.push + (j + 1) * lane + c * n) =
          weighted * (at(b.logits + (j + 1) * lane + c * n) - sums[j]) + share[j] * push;
  }
}

template <class S, int D>
void softmax_blocks(const Batch<S>& b) {
  for (int row = 0; row < b.stride; row += lanes<S>) softmax_block<S, D>(b, row);
}

template <class S>
void residuals_softmax(const Batch<S>& b) {
  if (!b.scale && !b.shift) switch (b.parts) {
      case 1: return softmax_blocks<S, 0>(b);
      case 2: return softmax_blocks<S, 1>(b);
      case 3: return softmax_blocks<S, 2>(b);
      case 4: return softmax_blocks<S, 3>(b);
      case 5: return softmax_blocks<S, 4>(b);
      default: break;
    }
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

// One output, a pack of rows: the push of the weights, and those of the derivatives by the curvature of the loss.
template <class S>
OBOLUS_INLINE void push_pack(const Batch<S>& b, int row, Wide<S> push, Wide<S> curvature) {
  const auto at = [row](auto* p) -> auto& { return *reinterpret_cast<Wide<S>*>(const_cast<S*>(p) + row); };
  at(b.push) = push;
  for (int j = 1; j < b.parts; ++j) {
    Wide<S> sum = curvature * at(b.logits + j * b.stride);
    if (b.part[j] == Part::rate) sum += push;
    if (b.part[j] == Part::replay) sum += at(b.replayed) * push;
    if (b.part[j] == Part::recent) sum += at(b.recent) * push;
    at(b.push + j * b.stride) = sum;
  }
}

template <class S>
void residuals_logistic(const Batch<S>& b) {
  const auto at = [](auto* p, int row) -> auto& { return *reinterpret_cast<Wide<S>*>(const_cast<S*>(p) + row); };
  for (int row = 0; row < b.stride; row += lanes<S>) {
    const Wide<S> p = S(1) / (S(1) + exponentials<S>(-at(b.logits, row))), weight = at(b.weight, row);
    Wide<S> label;
    for (int r = 0; r < lanes<S>; ++r) label[r] = b.label[row + r] == 1 ? S(1) : S(0);
    push_pack<S>(b, row, weight * (p - label), weight * p * (S(1) - p));
  }
}

template <class S>
void residuals_squared(const Batch<S>& b) {
  const auto at = [](auto* p, int row) -> auto& { return *reinterpret_cast<Wide<S>*>(const_cast<S*>(p) + row); };
  for (int row = 0; row < b.stride; row += lanes<S>) {
    const Wide<S> weight = at(b.weight, row);
    push_pack<S>(b, row, weight * (at(b.logits, row) - at(b.target, row)), weight);
  }
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
