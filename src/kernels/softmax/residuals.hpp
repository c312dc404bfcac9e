// Logits to residuals, for one instruction set: softmax and its differences, row by row.
#pragma once

#include "kernels/softmax/vector.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

// 1 where there is a class, 0 beyond.
template <class S, int L, int Q>
__attribute__((noinline)) void mask_classes(const Shape<S, L, Q>& shape, int classes, Row<S, L, Q>& mask) {
  int c = 0;
  shape.each(
      [&](auto& pack) {
        for (int i = 0; i < int(sizeof(pack) / sizeof(S)); ++i) pack[i] = c++ < classes ? S(1) : S(0);
      },
      mask);
}

// p ← softmax(scale · l), 0 beyond the classes.
template <class S, int L, int Q, class Logits>
OBOLUS_INLINE void softmax(const Shape<S, L, Q>& shape, const Logits& l, S scale, const Row<S, L, Q>& mask,
                           Row<S, L, Q>& p) {
  constexpr S far = S(1e30);
  Max<S> max(-far);
  shape.each(
      [&](auto& to, auto& logit, auto& is_class) {
        to = scale * logit * is_class - (S(1) - is_class) * far;
        max.add(to);
      },
      p, l, mask);
  const S top = max.total();
  Sum<S> sum = shape.sum();
  shape.each(
      [&](auto& to, auto& is_class) {
        to = exponential(to - top) * is_class;
        sum.add(to);
      },
      p, mask);
  const S inverse = S(1) / sum.total();
  shape.each([&](auto& to) { to *= inverse; }, p);
}
// The change of softmax, from logits with probabilities p to logits larger by d: p (e − m)/(1 + m), e = expm1(d − <p,
// d>), m = <p, e>. Nothing cancels when d is small.
template <class S, int L, int Q>
OBOLUS_INLINE void softmax_change(const Shape<S, L, Q>& shape, const Row<S, L, Q>& p, const RowAt<S>& d, S factor,
                                  Row<S, L, Q>& change) {
  Sum<S> sum = shape.sum();
  shape.each([&](auto& pi, auto& di) { sum.add(pi * di); }, p, d);
  const S centre = sum.total() * factor;
  Sum<S> means = shape.sum();
  shape.each(
      [&](auto& e, auto& pi, auto& di) {
        e = exponential_minus_one(factor * di - centre);
        means.add(pi * e);
      },
      change, p, d);
  const S mean = means.total(), inverse = S(1) / (S(1) + mean);
  shape.each([&](auto& e, auto& pi) { e = pi * (e - mean) * inverse; }, change, p);
}

template <class S, int L, int Q>
void residuals(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& it, int k, int rows,
               Weights w) {
  const Shape<S, L, Q> shape{it.cut};
  Row<S, L, Q> mask, p;
  mask_classes(shape, it.classes, mask);
  for (int r = first; r < last; ++r) {
    const RowAt<S> l = shape.at(it.logits, std::size_t(k) * rows + r);
    const S weight = S(r < inner ? w.inner : w.outer), scale = S(r < inner ? 1.0 : w.scale);
    softmax(shape, l, scale, mask, p);
    shape.each([&](auto& to, auto& pi) { to = weight * pi; }, l, p);
    shape.number(l, label[r]) -= weight;
  }
}

template <class S, int L, int Q>
void residuals_dual(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& z,
                    const IterateView<S>& w, int k, int rows, double lambda, Weights z_weights, Weights w_weights) {
  const Shape<S, L, Q> shape{z.cut};
  const S part = S(1.0 / lambda);
  Row<S, L, Q> mask, p, q;
  mask_classes(shape, z.classes, mask);
  for (int r = first; r < last; ++r) {
    const RowAt<S> lz = shape.at(z.logits, std::size_t(k) * rows + r),
                   lw = shape.at(w.logits, std::size_t(k) * rows + r);
    if (r < inner) {
      softmax(shape, lz, S(1), mask, p);
      softmax_change(shape, p, lw, part, q);
      const S a = S(z_weights.inner), b = S(w_weights.inner);
      shape.each([&](auto& to, auto& pi) { to = a * pi; }, lz, p);
      shape.each([&](auto& to, auto& qi) { to = b * qi; }, lw, q);
      shape.number(lz, label[r]) -= a;
    } else {
      shape.each([&](auto& to, auto& zi, auto& wi) { to = zi + part * wi; }, q, lz, lw);
      softmax(shape, q, S(w_weights.scale), mask, p);
      const S b = S(w_weights.outer);
      shape.each([&](auto& to, auto& pi) { to = b * pi; }, lw, p);
      shape.number(lw, label[r]) -= b;
    }
  }
}

template <class S, int L, int Q>
void residuals_central(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& c,
                       const IterateView<S>& w, int k, int rows, double lambda, Weights up, Weights down) {
  const Shape<S, L, Q> shape{c.cut};
  const S part = S(1.0 / lambda), all = S(lambda), half = S(0.5);
  Row<S, L, Q> mask, p, q, s;
  mask_classes(shape, c.classes, mask);
  for (int r = first; r < last; ++r) {
    const RowAt<S> lc = shape.at(c.logits, std::size_t(k) * rows + r),
                   lw = shape.at(w.logits, std::size_t(k) * rows + r);
    if (r < inner) {
      softmax(shape, lc, S(1), mask, p);
      softmax_change(shape, p, lw, part, q);
      softmax_change(shape, p, lw, -part, s);
      const S a = S(up.inner);
      shape.each([&](auto& to, auto& pi, auto& qi, auto& si) { to = a * (pi + half * (qi + si)); }, lc, p, q, s);
      shape.each([&](auto& to, auto& qi, auto& si) { to = all * a * half * (qi - si); }, lw, q, s);
      shape.number(lc, label[r]) -= a;
    } else {
      const S a = S(up.outer), b = S(down.outer);
      shape.each([&](auto& to, auto& ci, auto& wi) { to = ci + part * wi; }, q, lc, lw);
      shape.each([&](auto& to, auto& ci, auto& wi) { to = ci - part * wi; }, s, lc, lw);
      softmax(shape, q, S(up.scale), mask, p);
      softmax(shape, s, S(down.scale), mask, q);
      shape.each([&](auto& to, auto& pi, auto& qi) { to = half * (a * pi - b * qi); }, lc, p, q);
      shape.each([&](auto& to, auto& pi, auto& qi) { to = all * half * (a * pi + b * qi); }, lw, p, q);
      shape.number(lc, label[r]) -= half * (a - b);
      shape.number(lw, label[r]) -= all * half * (a + b);
    }
  }
}

template <class S, int L, int Q>
void residuals_system(const std::int32_t* label, int inner, int first, int last, const IterateView<S>& y,
                      const IterateView<S>& v, int k, int rows, Weights w) {
  const Shape<S, L, Q> shape{y.cut};
  Row<S, L, Q> mask, p;
  mask_classes(shape, y.classes, mask);
  for (int r = first; r < last; ++r) {
    const RowAt<S> ly = shape.at(y.logits, std::size_t(k) * rows + r),
                   lv = shape.at(v.logits, std::size_t(k) * rows + r);
    const S weight = S(r < inner ? w.inner : w.outer), scale = S(r < inner ? 1.0 : w.scale);
    softmax(shape, ly, scale, mask, p);
    if (r < inner) {
      Sum<S> sum = shape.sum();
      shape.each([&](auto& pi, auto& vi) { sum.add(pi * vi); }, p, lv);
      const S mean = sum.total();
      shape.each([&](auto& to, auto& pi) { to = weight * pi * (to - mean); }, lv, p);
    } else {
      shape.each([&](auto& to, auto& pi) { to = weight * pi; }, lv, p);
      shape.number(lv, label[r]) -= weight;
    }
  }
}

template <class S, int L, int Q>
void scale_slope(const std::int32_t* label, int first, int last, const IterateView<S>& a, const IterateView<S>* b,
                 int k, int rows, double part, double s, double* slope, double* curvature) {
  const Shape<S, L, Q> shape{a.cut};
  Row<S, L, Q> mask, l, p;
  mask_classes(shape, a.classes, mask);
  for (int r = first; r < last; ++r) {
    const RowAt<S> one = shape.at(a.logits, std::size_t(k) * rows + r);
    shape.each([](auto& to, auto& from) { to = from; }, l, one);
    S own = shape.number(one, label[r]);
    if (b) {
      const RowAt<S> other = shape.at(b->logits, std::size_t(k) * rows + r);
      shape.each([&](auto& to, auto& more) { to += S(part) * more; }, l, other);
      own += S(part) * shape.number(other, label[r]);
    }
    softmax(shape, l, S(s), mask, p);
    Sum<S> mean = shape.sum(), square = shape.sum();
    shape.each(
        [&](auto& pi, auto& li) {
          mean.add(pi * (li - own));
          square.add(pi * (li - own) * (li - own));
        },
        p, l);
    const double m = double(mean.total());
    *slope += m;
    *curvature += double(square.total()) - m * m;
  }
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
