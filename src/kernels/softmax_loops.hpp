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
      const S* ahead = it.rows + std::size_t(b.single[i + 8].index) * it.stride;
      __builtin_prefetch(ahead), __builtin_prefetch(ahead + it.stride - 1);
      const int f = b.single[i].index;
      const S a = S(b.single[i].value), rho = 1 - it.decay * x[f];
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
      const S a = S(b.row[q].value), c = S(b.row[q + 1].value);
      const Pack<S>* one = packs(const_cast<const S*>(it.compact) + std::size_t(b.row[q].index) * it.stride);
      const Pack<S>* two = packs(const_cast<const S*>(it.compact) + std::size_t(b.row[q + 1].index) * it.stride);
      for (int v = 0; v < n; ++v) sum[v] += a * one[v], other[v] += c * two[v];
    }
    if (q < end) {
      const S a = S(b.row[q].value);
      const Pack<S>* one = packs(const_cast<const S*>(it.compact) + std::size_t(b.row[q].index) * it.stride);
      for (int v = 0; v < n; ++v) sum[v] += a * one[v];
    }
    Pack<S>* to = packs(it.logits + k * step + std::size_t(r) * it.stride);
    for (int v = 0; v < n; ++v) to[v] = sum[v] + other[v];
  }
}

// Without columns: every document changes the features it has.
template <class S, int N>
OBOLUS_INLINE void backward_by_rows(const BatchView& b, const IterateView<S>& it, int k, int n) {
  const S* residuals = it.logits + k * std::size_t(b.rows) * it.stride;
  for (int l = 0; l < b.multi; ++l) {
    Pack<S>* w = packs(it.compact + std::size_t(l) * it.stride);
    for (int v = 0; v < n; ++v) w[v] *= it.shrink[l];
  }
  for (int r = 0; r < it.writes; ++r) {
    Pack<S> residual[buffer_packs<S, N>];
    for (int v = 0; v < n; ++v) residual[v] = packs(residuals + std::size_t(r) * it.stride)[v];
    for (int q = b.row_start[r]; q < b.row_start[r + 1]; ++q) {
      const S a = S(b.row[q].value);
      Pack<S>* w = packs(it.compact + std::size_t(b.row[q].index) * it.stride);
      for (int v = 0; v < n; ++v) w[v] -= a * residual[v];
    }
  }
}

template <class S, int N>
void backward(const BatchView& b, const IterateView<S>& it, int k) {
  const int n = pack_count<S, N>(it.stride);
  if (!b.by_columns) return backward_by_rows<S, N>(b, it, k, n);
  const S* residuals = it.logits + k * std::size_t(b.rows) * it.stride;
  const std::int32_t* ends = it.writes < b.rows ? b.column_inner : b.column_start + 1;
  for (int l = 0; l < b.multi; ++l) {
    Pack<S>* w = packs(it.compact + std::size_t(l) * it.stride);
    const S rho = it.shrink[l];
    Pack<S> sum[buffer_packs<S, N>];  // by itself: weights may be far larger than what changes them
    for (int v = 0; v < n; ++v) sum[v] = Pack<S>{};
    for (int q = b.column_start[l]; q < ends[l]; ++q) {
      const Pack<S>* residual = packs(residuals + std::size_t(b.column[q].index) * it.stride);
      const S a = S(b.column[q].value);
      for (int v = 0; v < n; ++v) sum[v] += a * residual[v];
    }
    for (int v = 0; v < n; ++v) w[v] = rho * w[v] - sum[v];
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

// Row r's feature i of one document: its weights after K steps.
template <class S, int N>
OBOLUS_INLINE void single_weights(const BatchView& b, const IterateView<S>& it, const S* x, int steps, int r, int i,
                                  Pack<S>* sum, int n) {
  const std::size_t step = std::size_t(b.rows) * it.stride;
  const int f = b.single[i].index;
  const S a = S(b.single[i].value), rho = 1 - it.decay * x[f], scale = it.scale[f];
  const Pack<S>* row = packs(const_cast<const S*>(it.rows) + std::size_t(f) * it.stride);
  const S* residuals = it.logits + std::size_t(r) * it.stride;
  for (int v = 0; v < n; ++v) sum[v] = packs(residuals)[v];
  for (int k = 1; k < steps; ++k)
    for (int v = 0; v < n; ++v) sum[v] = sum[v] * rho + packs(residuals + k * step)[v];
  for (int v = 0; v < n; ++v) sum[v] = scale * row[v] - a * sum[v];
}

template <class S>
OBOLUS_INLINE void look_ahead(const IterateView<S>& it, int f) {
  const S* ahead = it.rows + std::size_t(f) * it.stride;
  __builtin_prefetch(ahead, 1), __builtin_prefetch(ahead + it.stride - 1, 1);
}

template <class S, int N>
void finish(const BatchView& b, const IterateView<S>& it, const S* x, int steps) {
  const int n = pack_count<S, N>(it.stride);
  for (int r = 0; r < it.writes; ++r)
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      look_ahead(it, b.single[i + 8].index);
      Pack<S> w[buffer_packs<S, N>];
      single_weights<S, N>(b, it, x, steps, r, i, w, n);
      store<S, N>(it, b.single[i].index, w, n);
    }
  for (int l = 0; l < b.multi; ++l)
    store<S, N>(it, b.multi_feature[l], packs(const_cast<const S*>(it.compact) + std::size_t(l) * it.stride), n);
}

template <class S>
OBOLUS_INLINE S shared_number(const Pack<S>* first, const Pack<S>* second, bool difference, int n) {
  Pack<S> sum{};
  for (int v = 0; v < n; ++v)
    sum += difference ? (second[v] - first[v]) * (second[v] + first[v]) : first[v] * second[v];
  return total<S>(sum);
}

// Both of a pair at once. `first` may leave f's rows alone; `second` never does.
template <class S, int N>
void finish_singles(const BatchView& b, const IterateView<S>& first, const IterateView<S>& second, const S* x,
                    int steps, bool difference, S* pair, int from, int to) {
  const int n = pack_count<S, N>(first.stride);
  for (int r = from; r < to; ++r)
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      look_ahead(first, b.single[i + 8].index), look_ahead(second, b.single[i + 8].index);
      const int f = b.single[i].index;
      Pack<S> u[buffer_packs<S, N>], w[buffer_packs<S, N>];
      single_weights<S, N>(b, second, x, steps, r, i, w, n);
      if (r < first.writes) {
        single_weights<S, N>(b, first, x, steps, r, i, u, n);
        store<S, N>(first, f, u, n);
      } else {
        const Pack<S>* row = packs(const_cast<const S*>(first.rows) + std::size_t(f) * first.stride);
        for (int v = 0; v < n; ++v) u[v] = first.scale[f] * row[v];
      }
      store<S, N>(second, f, w, n);
      pair[f] = shared_number<S>(u, w, difference, n);
    }
}
template <class S, int N>
void finish_multi(const BatchView& b, const IterateView<S>& first, const IterateView<S>& second, bool difference,
                  S* pair, int from, int to) {
  const int n = pack_count<S, N>(first.stride);
  for (int l = from; l < to; ++l) {
    const int f = b.multi_feature[l];
    const Pack<S>* u = packs(const_cast<const S*>(first.compact) + std::size_t(l) * first.stride);
    const Pack<S>* w = packs(const_cast<const S*>(second.compact) + std::size_t(l) * second.stride);
    store<S, N>(first, f, u, n), store<S, N>(second, f, w, n);
    pair[f] = shared_number<S>(u, w, difference, n);
  }
}

// K steps of rows that nobody touched: scale ← ρ^K scale, norm ← ρ^2K norm.
template <class S>
OBOLUS_INLINE Pack<S> shrink_pack(const IterateView<S>& it, const Pack<S>& x, int steps, std::int64_t i,
                                  Pack<S>& wild) {
  const Pack<S> rho = S(1) - it.decay * x;
  Pack<S> p = rho;
  for (int k = 1; k < steps; ++k) p *= rho;
  Pack<S>& scale = *packs(it.scale + i);
  Pack<S>& norm = *packs(it.norm + i);
  scale *= p;
  norm = norm * p * p;  // in this order: p² may overflow where the norm is 0
  const Pack<S> size = scale < S(0) ? -scale : scale;
  wild = size > wild ? size : wild;
  return p;
}
template <class S>
OBOLUS_INLINE S shrink_one(const IterateView<S>& it, S x, int steps, std::int64_t i, S& wild) {
  const S rho = 1 - it.decay * x;
  S p = rho;
  for (int k = 1; k < steps; ++k) p *= rho;
  it.scale[i] *= p;
  it.norm[i] = it.norm[i] * p * p;
  const S size = it.scale[i] < 0 ? -it.scale[i] : it.scale[i];
  wild = size > wild ? size : wild;
  return p;
}

// One iterate, or a pair with what it shares; chunks start at multiples of a pack.
template <class S>
bool shrink(const IterateView<S>& a, const IterateView<S>* b, S* pair, const S* x, int steps, std::int64_t first,
            std::int64_t last) {
  constexpr S beyond = S(1e30);
  Pack<S> most{};
  S rest = 0;
  std::int64_t i = first;
  for (; i + lanes<S> <= last; i += lanes<S>) {
    const Pack<S> xs = *packs(x + i);
    const Pack<S> p = shrink_pack(a, xs, steps, i, most);
    if (!b) continue;
    const Pack<S> q = shrink_pack(*b, xs, steps, i, most);
    if (pair) *packs(pair + i) = *packs(pair + i) * p * q;
  }
  for (; i < last; ++i) {
    const S p = shrink_one(a, x[i], steps, i, rest);
    if (!b) continue;
    const S q = shrink_one(*b, x[i], steps, i, rest);
    if (pair) pair[i] = pair[i] * p * q;
  }
  const S size = largest<S>(most);
  return size > beyond || rest > beyond;
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
      sum += difference ? (q - p) * (q + p) : p * q;
    }
    pair[f] = total<S>(sum);
  }
}
