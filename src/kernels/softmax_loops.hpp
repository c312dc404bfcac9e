// The loops of softmax_kernels.hpp, for one instruction set. N is the number of packs in a row of weights, 0 when only known at
// run time. No name of the standard library is instantiated here: an inline function compiled for AVX2 might be linked elsewhere.
#include "kernels/softmax_vector.hpp"

constexpr int most_packs = 256;  // at run time: 1,024 classes in double

template <class S, int N>
OBOLUS_INLINE int pack_count(int stride) {
  return N > 0 ? N : stride / lanes<S>;
}
template <class S, int N>
constexpr int buffer_packs = N > 0 ? N : most_packs;

// ρ^n for small n.
template <class S>
OBOLUS_INLINE S power(S base, int n) {
  S p = 1;
  for (; n > 0; --n) p *= base;
  return p;
}

template <class S, int N>
void begin(const BatchView& b, const IterateView<S>& it, const S* x, int steps) {
  const int n = pack_count<S, N>(it.stride);
  for (int r = 0; r < it.reads; ++r) {
    S* sums = it.single + std::size_t(r) * block * it.stride;
    S* moments = it.moment + std::size_t(r) * block;
    for (int k = 0; k < steps; ++k) {
      moments[k] = 0;
      for (int v = 0; v < n; ++v) packs(sums + k * it.stride)[v] = Pack<S>{};
    }
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      const S* ahead = it.rows + std::size_t(b.single_feature[i + 8]) * it.stride;
      __builtin_prefetch(ahead), __builtin_prefetch(ahead + it.stride - 1);
      const int f = b.single_feature[i];
      const S a = S(b.single_value[i]), rho = 1 - it.decay * x[f];
      const Pack<S>* row = packs(const_cast<const S*>(it.rows) + std::size_t(f) * it.stride);
      S weight = a * it.scale[f], moment = a * a;
      for (int k = 0; k < steps; ++k, weight *= rho, moment *= rho) {
        moments[k] += moment;
        Pack<S>* sum = packs(sums + k * it.stride);
        for (int v = 0; v < n; ++v) sum[v] += weight * row[v];
      }
    }
  }
  for (int l = 0; l < b.multi; ++l) {
    const S* ahead = it.rows + std::size_t(b.multi_feature[l + 8]) * it.stride;
    __builtin_prefetch(ahead), __builtin_prefetch(ahead + it.stride - 1);
    const int f = b.multi_feature[l];
    const S scale = it.scale[f];
    const Pack<S>* row = packs(const_cast<const S*>(it.rows) + std::size_t(f) * it.stride);
    Pack<S>* to = packs(it.compact + std::size_t(l) * it.stride);
    for (int v = 0; v < n; ++v) to[v] = scale * row[v];
    it.shrink[l] = 1 - it.decay * x[f];
  }
}

template <class S, int N>
void forward(const BatchView& b, const IterateView<S>& it, int k, int) {
  const int n = pack_count<S, N>(it.stride);
  const std::size_t step = std::size_t(b.rows) * it.stride;
  for (int r = 0; r < it.reads; ++r) {
    Pack<S> sum[buffer_packs<S, N>], other[buffer_packs<S, N>];
    const Pack<S>* single = packs(const_cast<const S*>(it.single) + (std::size_t(r) * block + k) * it.stride);
    for (int v = 0; v < n; ++v) sum[v] = single[v], other[v] = Pack<S>{};
    if (r < it.writes)
      for (int j = 0; j < k; ++j) {
        const S moment = it.moment[std::size_t(r) * block + (k - 1 - j)];
        const Pack<S>* residual = packs(const_cast<const S*>(it.logits) + j * step + std::size_t(r) * it.stride);
        for (int v = 0; v < n; ++v) sum[v] -= moment * residual[v];
      }
    int q = b.row_start[r];
    const int end = b.row_start[r + 1];
    for (; q + 1 < end; q += 2) {
      const S a = S(b.row_value[q]), c = S(b.row_value[q + 1]);
      const Pack<S>* one = packs(const_cast<const S*>(it.compact) + std::size_t(b.row_local[q]) * it.stride);
      const Pack<S>* two = packs(const_cast<const S*>(it.compact) + std::size_t(b.row_local[q + 1]) * it.stride);
      for (int v = 0; v < n; ++v) sum[v] += a * one[v], other[v] += c * two[v];
    }
    if (q < end) {
      const S a = S(b.row_value[q]);
      const Pack<S>* one = packs(const_cast<const S*>(it.compact) + std::size_t(b.row_local[q]) * it.stride);
      for (int v = 0; v < n; ++v) sum[v] += a * one[v];
    }
    Pack<S>* to = packs(it.logits + k * step + std::size_t(r) * it.stride);
    for (int v = 0; v < n; ++v) to[v] = sum[v] + other[v];
  }
}

template <class S, int N>
void backward(const BatchView& b, const IterateView<S>& it, int k) {
  const int n = pack_count<S, N>(it.stride);
  const S* residuals = it.logits + k * std::size_t(b.rows) * it.stride;
  const std::int32_t* ends = it.writes < b.rows ? b.column_inner : b.column_start + 1;
  for (int l = 0; l < b.multi; ++l) {
    Pack<S>* w = packs(it.compact + std::size_t(l) * it.stride);
    const S rho = it.shrink[l];
    Pack<S> sum[buffer_packs<S, N>];
    for (int v = 0; v < n; ++v) sum[v] = rho * w[v];
    for (int q = b.column_start[l]; q < ends[l]; ++q) {
      const Pack<S>* residual = packs(residuals + std::size_t(b.column_row[q]) * it.stride);
      const S a = S(b.column_value[q]);
      for (int v = 0; v < n; ++v) sum[v] -= a * residual[v];
    }
    for (int v = 0; v < n; ++v) w[v] = sum[v];
  }
}

// Storage takes the new weights; its scalars have shrunk before.
template <class S, int N>
OBOLUS_INLINE void store(const IterateView<S>& it, int f, const Pack<S>* w, int n) {
  Pack<S> squares{};
  for (int v = 0; v < n; ++v) squares += w[v] * w[v];
  Pack<S>* row = packs(it.rows + std::size_t(f) * it.stride);
  for (int v = 0; v < n; ++v) row[v] = w[v];
  it.scale[f] = 1;
  it.norm[f] = total<S>(squares);
}

template <class S, int N>
void finish(const BatchView& b, const IterateView<S>& it, const S* x, int steps) {
  const int n = pack_count<S, N>(it.stride);
  const std::size_t step = std::size_t(b.rows) * it.stride;
  for (int r = 0; r < it.writes; ++r)
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      const S* ahead = it.rows + std::size_t(b.single_feature[i + 8]) * it.stride;
      __builtin_prefetch(ahead, 1), __builtin_prefetch(ahead + it.stride - 1, 1);
      const int f = b.single_feature[i];
      const S a = S(b.single_value[i]), rho = 1 - it.decay * x[f], scale = it.scale[f];
      const Pack<S>* row = packs(const_cast<const S*>(it.rows) + std::size_t(f) * it.stride);
      const S* residuals = it.logits + std::size_t(r) * it.stride;
      Pack<S> sum[buffer_packs<S, N>];
      for (int v = 0; v < n; ++v) sum[v] = packs(residuals)[v];
      for (int k = 1; k < steps; ++k)
        for (int v = 0; v < n; ++v) sum[v] = sum[v] * rho + packs(residuals + k * step)[v];
      for (int v = 0; v < n; ++v) sum[v] = scale * row[v] - a * sum[v];
      store<S, N>(it, f, sum, n);
    }
  for (int l = 0; l < b.multi; ++l)
    store<S, N>(it, b.multi_feature[l], packs(const_cast<const S*>(it.compact) + std::size_t(l) * it.stride), n);
}

template <class S, int N>
void gather(const RowsView& b, IterateView<S>& it) {
  const int n = pack_count<S, N>(it.stride);
  it.met_count = 0;
  for (int r = 0; r < it.reads; ++r) {
    Pack<S> sum[buffer_packs<S, N>];
    for (int v = 0; v < n; ++v) sum[v] = Pack<S>{};
    const std::int64_t end = b.start[b.row[r] + 1];
    for (std::int64_t q = b.start[b.row[r]]; q < end; ++q) {
      const S* ahead = it.rows + std::size_t(b.column[q + 8 < end ? q + 8 : q]) * it.stride;
      __builtin_prefetch(ahead), __builtin_prefetch(ahead + it.stride - 1);
      const int f = b.column[q];
      Pack<S>* row = packs(it.rows + std::size_t(f) * it.stride);
      if (it.stamp[f] != it.now) {
        it.stamp[f] = it.now;
        it.met[it.met_count++] = f;
        const S scale = it.scale[f];
        for (int v = 0; v < n; ++v) row[v] *= scale;
        it.scale[f] = 1;
      }
      const S a = S(b.value[q]);
      for (int v = 0; v < n; ++v) sum[v] += a * row[v];
    }
    for (int v = 0; v < n; ++v) packs(it.logits + std::size_t(r) * it.stride)[v] = sum[v];
  }
}

template <class S, int N>
void scatter(const RowsView& b, const IterateView<S>& it) {
  const int n = pack_count<S, N>(it.stride);
  for (int i = 0; i < it.met_count; ++i) {
    const int f = it.met[i];
    Pack<S>* row = packs(it.rows + std::size_t(f) * it.stride);
    const S scale = it.scale[f];
    for (int v = 0; v < n; ++v) row[v] *= scale;
  }
  for (int r = 0; r < it.writes; ++r) {
    const Pack<S>* residual = packs(const_cast<const S*>(it.logits) + std::size_t(r) * it.stride);
    for (std::int64_t q = b.start[b.row[r]]; q < b.start[b.row[r] + 1]; ++q) {
      const S a = S(b.value[q]);
      Pack<S>* row = packs(it.rows + std::size_t(b.column[q]) * it.stride);
      for (int v = 0; v < n; ++v) row[v] -= a * residual[v];
    }
  }
  for (int i = 0; i < it.met_count; ++i) {
    const int f = it.met[i];
    Pack<S> w[buffer_packs<S, N>];
    const Pack<S>* row = packs(const_cast<const S*>(it.rows) + std::size_t(f) * it.stride);
    for (int v = 0; v < n; ++v) w[v] = row[v];
    store<S, N>(it, f, w, n);
  }
}

template <class S>
bool shrink(const IterateView<S>& it, const S* x, int steps, std::int64_t first, std::int64_t last) {
  constexpr S beyond = S(1e30);
  bool wild = false;
  S* scale = it.scale;
  S* norm = it.norm;
  for (std::int64_t i = first; i < last; ++i) {
    const S rho = 1 - it.decay * x[i], p = power(rho, steps);
    const S s = scale[i] * p;
    scale[i] = s;
    norm[i] *= p * p;
    wild |= (s > beyond) | (s < -beyond);
  }
  return wild;
}

template <class S>
void shrink_pair(S* pair, S decay_a, S decay_b, const S* x, int steps, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i)
    pair[i] *= power(1 - decay_a * x[i], steps) * power(1 - decay_b * x[i], steps);
}

template <class S, int N>
void products(const IterateView<S>& a, const IterateView<S>& b, bool difference, const std::int32_t* feature,
              std::int64_t count, S* pair) {
  const int n = pack_count<S, N>(a.stride);
  for (std::int64_t i = 0; i < count; ++i) {
    const int f = feature[i];
    const Pack<S>* u = packs(const_cast<const S*>(a.rows) + std::size_t(f) * a.stride);
    const Pack<S>* v = packs(const_cast<const S*>(b.rows) + std::size_t(f) * b.stride);
    const S su = a.scale[f], sv = b.scale[f];
    Pack<S> sum{};
    for (int k = 0; k < n; ++k) {
      const Pack<S> p = su * u[k], q = sv * v[k];
      sum += difference ? (p - q) * (p + q) : p * q;
    }
    pair[f] = total<S>(sum);
  }
}
