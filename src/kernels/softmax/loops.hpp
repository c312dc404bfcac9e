// The loops of softmax/kernels.hpp, for one instruction set: see kernels/pack.hpp. Rows have L lines and Q quarters; L
// is negative when these are only known at run time.
#pragma once

#include "kernels/softmax/vector.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

template <class S, int L, int Q>
void begin(const BatchView& b, const IterateView<S>& it, const S* x, int steps) {
  const Shape<S, L, Q> shape{it.cut};
  for (int r = 0; r < it.reads; ++r) {
    S* moments = it.moment + std::size_t(r) * block;
    for (int k = 0; k < steps; ++k) {
      moments[k] = 0;
      shape.each([](auto& sum) { clear(sum); }, shape.at(it.single, std::size_t(r) * block + k));
    }
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      const int f = b.single[i].index, next = b.single[i + ahead].index;
      shape.look_ahead(it.rows, next);
      __builtin_prefetch(it.scale + next);
      __builtin_prefetch(x + next);
      const S a = S(b.single[i].value), rho = 1 - it.decay * x[f];
      const RowAt<S> row = shape.at(it.rows, f);
      S weight = a * it.scale[f], moment = a * a;
      for (int k = 0; k < steps; ++k, weight *= rho, moment *= rho) {
        moments[k] += moment;
        shape.each([&](auto& sum, auto& w) { sum += weight * w; }, shape.at(it.single, std::size_t(r) * block + k),
                   row);
      }
    }
  }
  for (int l = 0; l < b.multi; ++l) {
    const int f = b.multi_feature[l], next = b.multi_feature[l + ahead];
    shape.look_ahead(it.rows, next);
    __builtin_prefetch(it.scale + next);
    __builtin_prefetch(x + next);
    const S scale = it.scale[f];
    shape.each([&](auto& to, auto& w) { to = scale * w; }, shape.at(it.compact, l), shape.at(it.rows, f));
    it.shrink[l] = 1 - it.decay * x[f];
  }
}

// Entries in the form of the batch, and in the form of the data.
struct Listed {
  const Entry* entry;
  [[gnu::always_inline]] int index(std::int64_t q) const { return entry[q].index; }
  [[gnu::always_inline]] float value(std::int64_t q) const { return entry[q].value; }
};
struct Common {
  const std::int32_t* column;
  const float* number;
  [[gnu::always_inline]] int index(std::int64_t q) const { return column[q]; }
  [[gnu::always_inline]] float value(std::int64_t q) const { return number[q]; }
};

// Σ a_q rows_(index of q) over entries first … last − 1, in several independent sums.
template <class S, int L, int Q>
struct WeightedSum {
  static constexpr int parts = L < 0 || L > 2 ? 1 : L > 1 ? 2 : side_by_side;
  const Shape<S, L, Q>& shape;
  Row<S, L, Q> part[parts];

  [[gnu::always_inline]] explicit WeightedSum(const Shape<S, L, Q>& s) : shape(s) {
    for (int u = 0; u < parts; ++u) shape.each([](auto& p) { clear(p); }, part[u]);
  }
  template <class List>
  [[gnu::always_inline]] void add(const List& list, std::int64_t first, std::int64_t last, const Rows<S>& rows) {
    std::int64_t q = first;
    for (; q + parts <= last; q += parts)
#pragma GCC unroll 4
      for (int u = 0; u < parts; ++u) {
        const Factor<S> a(S(list.value(q + u)));
        shape.each([&](auto& p, auto& w) { p += a.like(p) * w; }, part[u], shape.at(rows, list.index(q + u)));
      }
    for (; q < last; ++q) {
      const Factor<S> a(S(list.value(q)));
      shape.each([&](auto& p, auto& w) { p += a.like(p) * w; }, part[0], shape.at(rows, list.index(q)));
    }
  }
  [[gnu::always_inline]] Row<S, L, Q>& total() {
    if constexpr (parts > 2) {
      shape.each([](auto& p, auto& q) { p += q; }, part[0], part[1]);
      shape.each([](auto& p, auto& q) { p += q; }, part[2], part[3]);
      shape.each([](auto& p, auto& q) { p += q; }, part[0], part[2]);
    } else if constexpr (parts > 1) {
      shape.each([](auto& p, auto& q) { p += q; }, part[0], part[1]);
    }
    return part[0];
  }
};

template <class S, int L, int Q>
void forward(const BatchView& b, const IterateView<S>& it, int k, int) {
  const Shape<S, L, Q> shape{it.cut};
  for (int r = 0; r < it.reads; ++r) {
    if (!b.by_columns && r + 1 < it.reads)
      for (std::int64_t q = b.common_start[r + 1]; q < b.common_end[r + 1]; q += 16) {
        __builtin_prefetch(b.common_index + q);
        __builtin_prefetch(b.common_value + q);
      }
    WeightedSum<S, L, Q> sums(shape);
    sums.add(Common{b.common_index, b.common_value}, b.common_start[r], b.common_end[r], it.compact);
    sums.add(Listed{b.row}, b.row_start[r], b.row_start[r + 1], it.compact);
    Row<S, L, Q>& sum = sums.total();
    shape.each([](auto& s, auto& single) { s += single; }, sum, shape.at(it.single, std::size_t(r) * block + k));
    if (r < it.writes)
      for (int j = 0; j < k; ++j) {
        const S moment = it.moment[std::size_t(r) * block + (k - 1 - j)];
        shape.each([&](auto& s, auto& residual) { s -= moment * residual; }, sum,
                   shape.at(it.logits, std::size_t(j) * b.rows + r));
      }
    shape.each([](auto& to, auto& s) { to = s; }, shape.at(it.logits, std::size_t(k) * b.rows + r), sum);
  }
}

// Without columns: every document changes its own features.
template <class S, int L, int Q>
OBOLUS_INLINE void backward_by_rows(const BatchView& b, const IterateView<S>& it, int k, const Shape<S, L, Q>& shape) {
  for (int l = 0; l < b.multi; ++l) {
    const S rho = it.shrink[l];
    shape.each([&](auto& w) { w *= rho; }, shape.at(it.compact, l));
  }
  for (int r = 0; r < it.writes; ++r) {
    Row<S, L, Q> residual;
    shape.each([](auto& to, auto& from) { to = from; }, residual, shape.at(it.logits, std::size_t(k) * b.rows + r));
    const auto change = [&](const auto& list, std::int64_t first, std::int64_t last) __attribute__((always_inline)) {
      for (std::int64_t q = first; q < last; ++q) {
        const S a = S(list.value(q));
        shape.each([&](auto& w, auto& by) { w -= a * by; }, shape.at(it.compact, list.index(q)), residual);
      }
    };
    change(Common{b.common_index, b.common_value}, b.common_start[r], b.common_end[r]);
    change(Listed{b.row}, b.row_start[r], b.row_start[r + 1]);
  }
}

// Changes are summed apart from the weights, which may be far larger. Short columns, which most are, take a single sum.
template <class S, int L, int Q>
OBOLUS_INLINE void change_by(const ColumnPart& column, const Entry* entry, const Rows<S>& residuals,
                             const IterateView<S>& it, const Shape<S, L, Q>& shape) {
  const S rho = it.shrink[column.owner];
  const RowAt<S> weights = shape.at(it.compact, column.owner);
  const auto apply = [&](auto& w, auto& change) __attribute__((always_inline)) { w = rho * w - change; };
  if (column.last - column.first < WeightedSum<S, L, Q>::parts) {
    Row<S, L, Q> sum;
    shape.each([](auto& s) { clear(s); }, sum);
    for (int q = column.first; q < column.last; ++q) {
      const Factor<S> a(S(entry[q].value));
      shape.each([&](auto& s, auto& residual) { s += a.like(s) * residual; }, sum, shape.at(residuals, entry[q].index));
    }
    return shape.each(apply, weights, sum);
  }
  WeightedSum<S, L, Q> sums(shape);
  sums.add(Listed{entry}, column.first, column.last, residuals);
  shape.each(apply, weights, sums.total());
}

template <class S, int L, int Q>
void backward(const BatchView& b, const IterateView<S>& it, int k) {
  const Shape<S, L, Q> shape{it.cut};
  if (!b.by_columns) return backward_by_rows<S, L, Q>(b, it, k, shape);
  const RowAt<S> first = shape.at(it.logits, std::size_t(k) * b.rows);
  const Rows<S> residuals{reinterpret_cast<S*>(first.line), reinterpret_cast<S*>(first.rest)};
  if (it.writes < b.rows)
    for (int i = 0; i < b.multi; ++i) change_by(b.inner_column[i], b.column, residuals, it, shape);
  else
    for (int i = 0; i < b.multi; ++i)
      change_by({b.column_owner[i], b.column_start[i], b.column_start[i + 1]}, b.column, residuals, it, shape);
}

// Stores the new weights and returns their squared norm; the scalars have shrunk already.
template <class S, int L, int Q, class From>
OBOLUS_INLINE S store(const Shape<S, L, Q>& shape, const IterateView<S>& it, int f, const From& weights) {
  Sum<S> squares = shape.sum();
  shape.each(
      [&](auto& to, auto& w) {
        squares.add(w * w);
        to = w;
      },
      shape.at(it.rows, f), weights);
  it.scale[f] = 1;
  return it.norm[f] = squares.total();
}

// The weights after K steps of feature i, which only row r has.
template <class S, int L, int Q>
OBOLUS_INLINE void single_weights(const Shape<S, L, Q>& shape, const BatchView& b, const IterateView<S>& it, const S* x,
                                  int steps, int r, int i, Row<S, L, Q>& sum) {
  const int f = b.single[i].index;
  const S a = S(b.single[i].value), rho = 1 - it.decay * x[f], scale = it.scale[f];
  shape.each([](auto& s, auto& residual) { s = residual; }, sum, shape.at(it.logits, r));
  for (int k = 1; k < steps; ++k)
    shape.each([&](auto& s, auto& residual) { s = s * rho + residual; }, sum,
               shape.at(it.logits, std::size_t(k) * b.rows + r));
  shape.each([&](auto& s, auto& w) { s = scale * w - a * s; }, sum, shape.at(it.rows, f));
}

template <class S, int L, int Q>
OBOLUS_INLINE void look_ahead_to_store(const Shape<S, L, Q>& shape, const IterateView<S>& it, int f) {
  shape.look_ahead_to_write(it.rows, f);
  __builtin_prefetch(it.scale + f, 1);
  __builtin_prefetch(it.norm + f, 1);
}

template <class S, int L, int Q>
void finish(const BatchView& b, const IterateView<S>& it, const S* x, int steps) {
  const Shape<S, L, Q> shape{it.cut};
  for (int r = 0; r < it.writes; ++r)
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      look_ahead_to_store(shape, it, b.single[i + ahead].index);
      __builtin_prefetch(x + b.single[i + ahead].index);
      Row<S, L, Q> w;
      single_weights<S, L, Q>(shape, b, it, x, steps, r, i, w);
      store(shape, it, b.single[i].index, w);
    }
  for (int l = 0; l < b.multi; ++l) {
    look_ahead_to_store(shape, it, b.multi_feature[l + ahead]);
    store(shape, it, b.multi_feature[l], shape.at(it.compact, l));
  }
}

template <class S, int L, int Q, class First, class Second>
OBOLUS_INLINE S shared_number(const Shape<S, L, Q>& shape, const First& first, const Second& second, bool difference) {
  Sum<S> sum = shape.sum();
  if (difference) shape.each([&](auto& u, auto& w) { sum.add((w - u) * (w + u)); }, first, second);
  else shape.each([&](auto& u, auto& w) { sum.add(u * w); }, first, second);
  return sum.total();
}

// Both of a pair at once. `first` may ignore f's rows; `second` never does.
template <class S, int L, int Q>
bool finish_singles(const BatchView& b, const IterateView<S>& first, const IterateView<S>& second, const S* x,
                    int steps, bool difference, S* pair, int from, int to) {
  const Shape<S, L, Q> shape{first.cut};
  S norms = 0;
  for (int r = from; r < to; ++r)
    for (int i = b.single_start[r]; i < b.single_start[r + 1]; ++i) {
      const int f = b.single[i].index, next = b.single[i + ahead].index;
      look_ahead_to_store(shape, first, next);
      look_ahead_to_store(shape, second, next);
      __builtin_prefetch(x + next);
      __builtin_prefetch(pair + next, 1);
      Row<S, L, Q> u, w;
      single_weights<S, L, Q>(shape, b, second, x, steps, r, i, w);
      if (r < first.writes) {
        single_weights<S, L, Q>(shape, b, first, x, steps, r, i, u);
        norms += store(shape, first, f, u);
      } else {
        const S scale = first.scale[f];
        shape.each([&](auto& to_, auto& row) { to_ = scale * row; }, u, shape.at(first.rows, f));
      }
      norms += store(shape, second, f, w);
      pair[f] = shared_number(shape, u, w, difference);
    }
  return is_tame(norms);
}
template <class S, int L, int Q>
bool finish_multi(const BatchView& b, const IterateView<S>& first, const IterateView<S>& second, bool difference,
                  S* pair, int from, int to) {
  const Shape<S, L, Q> shape{first.cut};
  S norms = 0;
  for (int l = from; l < to; ++l) {
    const int f = b.multi_feature[l], next = b.multi_feature[l + ahead];
    look_ahead_to_store(shape, first, next);
    look_ahead_to_store(shape, second, next);
    __builtin_prefetch(pair + next, 1);
    const RowAt<S> u = shape.at(first.compact, l), w = shape.at(second.compact, l);
    norms += store(shape, first, f, u) + store(shape, second, f, w);
    pair[f] = shared_number(shape, u, w, difference);
  }
  return is_tame(norms);
}

template <class S, int L, int Q>
void products(const IterateView<S>& a, const IterateView<S>& b, bool difference, const std::int32_t* feature,
              std::int64_t count, S* pair) {
  const Shape<S, L, Q> shape{a.cut};
  for (std::int64_t i = 0; i < count; ++i) {
    const int f = feature[i];
    const S su = a.scale[f], sv = b.scale[f];
    Sum<S> sum = shape.sum();
    shape.each(
        [&](auto& u, auto& v) {
          const auto p = su * u, q = sv * v;
          sum.add(difference ? (q - p) * (q + p) : p * q);
        },
        shape.at(a.rows, f), shape.at(b.rows, f));
    pair[f] = sum.total();
  }
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
