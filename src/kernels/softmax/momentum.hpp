// Rows of y, v and their momenta in and out of storage (obolus/problems/lazy_momentum.hpp), for one instruction set.
#pragma once

#include "kernels/softmax/vector.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

template <class S, int L, int Q>
void momentum_begin(const BatchView& b, const MomentumView<S>& m) {
  const Shape<S, L, Q> shape{m.cut};
  for (int l = 0; l < b.multi; ++l) {
    const int f = b.multi_feature[l], next = b.multi_feature[l + ahead];
    shape.look_ahead(m.base, next);
    shape.look_ahead(m.drift, next);
    const S* const numbers[] = {m.scale, m.along, m.past_scale, m.past_along, m.fade};
    for (const S* each : numbers) __builtin_prefetch(each + next);
    const S scale = m.scale[f], along = m.along[f], past = m.past_scale[f], past_along = m.past_along[f],
            fade = m.fade[f];
    const RowAt<S> base = shape.at(m.base, f), drift = shape.at(m.drift, f);
    shape.each([&](auto& to, auto& a, auto& e) { to = scale * a + along * e; }, shape.at(m.now, l), base, drift);
    shape.each([&](auto& to, auto& a, auto& e) { to = past * a + past_along * e; }, shape.at(m.past, l), base, drift);
    shape.each([&](auto& to, auto& e) { to = fade * e; }, shape.at(m.rest, l), drift);
  }
}

template <class S, int L, int Q>
OBOLUS_INLINE S product(const Shape<S, L, Q>& shape, const RowAt<S>& a, const RowAt<S>& b) {
  Sum<S> sum = shape.sum();
  shape.each([&](auto& u, auto& w) { sum.add(u * w); }, a, b);
  return sum.total();
}

// A ← y, E ← r, and the numbers of a row that starts again, one step later.
template <class S, int L, int Q>
OBOLUS_INLINE void momentum_store(const Shape<S, L, Q>& shape, const MomentumView<S>& m, S x, int l, int f) {
  const RowAt<S> now = shape.at(m.now, l), rest = shape.at(m.rest, l);
  shape.each([](auto& to, auto& from) { to = from; }, shape.at(m.base, f), now);
  shape.each([](auto& to, auto& from) { to = from; }, shape.at(m.drift, f), rest);
  m.scale[f] = 1 - m.step * x;
  m.along[f] = -m.step;
  m.past_scale[f] = 1;
  m.past_along[f] = 0;
  m.fade[f] = 1;
  m.base_norm[f] = product(shape, now, now);
  m.drift_norm[f] = product(shape, rest, rest);
}

template <class S, int L, int Q>
OBOLUS_INLINE void momentum_look_ahead(const Shape<S, L, Q>& shape, const MomentumView<S>& m, int f) {
  shape.look_ahead_to_write(m.base, f);
  shape.look_ahead_to_write(m.drift, f);
  S* const numbers[] = {m.scale,     m.along,      m.past_scale, m.past_along, m.fade,
                        m.base_norm, m.drift_norm, m.base_pair,  m.drift_pair};
  for (S* each : numbers) __builtin_prefetch(each + f, 1);
}

template <class S, int L, int Q>
void momentum_finish(const BatchView& b, const MomentumView<S>& y, const MomentumView<S>& v, S* own, const S* x) {
  const Shape<S, L, Q> shape{y.cut};
  for (int l = 0; l < b.multi; ++l) {
    const int f = b.multi_feature[l], next = b.multi_feature[l + ahead];
    momentum_look_ahead(shape, y, next);
    momentum_look_ahead(shape, v, next);
    __builtin_prefetch(own + next, 1);
    __builtin_prefetch(x + next);
    momentum_store(shape, y, x[f], l, f);
    momentum_store(shape, v, x[f], l, f);
    const RowAt<S> a = shape.at(y.now, l), e = shape.at(y.rest, l), p = shape.at(v.now, l), q = shape.at(v.rest, l);
    y.base_pair[f] = product(shape, a, p);
    y.drift_pair[f] = product(shape, e, p);
    v.base_pair[f] = product(shape, a, q);
    v.drift_pair[f] = product(shape, e, q);
    own[f] = product(shape, p, q);
  }
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
