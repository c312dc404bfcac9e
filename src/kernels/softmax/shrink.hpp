// The scalars of untouched rows, for one instruction set.
#pragma once

#include "kernels/softmax/vector.hpp"

namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS {

template <class S>
OBOLUS_INLINE Wide<S>& wide_at(S* p) {
  return *reinterpret_cast<Wide<S>*>(p);
}
template <class S>
OBOLUS_INLINE const Wide<S>& wide_at(const S* p) {
  return *reinterpret_cast<const Wide<S>*>(p);
}

// K steps of untouched rows: scale ← ρ^K scale, norm ← ρ^2K norm.
template <class S>
OBOLUS_INLINE Wide<S> shrink_pack(const IterateView<S>& it, const Wide<S>& x, int steps, std::int64_t i, Wide<S>& wild,
                                  Wide<S>& norms) {
  const Wide<S> rho = S(1) - it.decay * x;
  Wide<S> p = rho;
  for (int k = 1; k < steps; ++k) p *= rho;
  Wide<S>& scale = wide_at(it.scale + i);
  Wide<S>& norm = wide_at(it.norm + i);
  scale *= p;
  norm = norm * p * p;  // in this order: p² may overflow where the norm is 0
  norms += norm;
  const Wide<S> size = scale < S(0) ? -scale : scale;
  wild = size > wild ? size : wild;
  return p;
}
template <class S>
OBOLUS_INLINE S shrink_one(const IterateView<S>& it, S x, int steps, std::int64_t i, S& wild, S& norms) {
  const S rho = 1 - it.decay * x;
  S p = rho;
  for (int k = 1; k < steps; ++k) p *= rho;
  it.scale[i] *= p;
  it.norm[i] = it.norm[i] * p * p;
  norms += it.norm[i];
  const S size = it.scale[i] < 0 ? -it.scale[i] : it.scale[i];
  wild = size > wild ? size : wild;
  return p;
}

// One iterate, or a pair with what it shares; chunks start at multiples of a pack.
template <class S>
Sizes shrink(const IterateView<S>& a, const IterateView<S>* b, S* pair, const S* x, int steps, std::int64_t first,
             std::int64_t last) {
  constexpr S beyond = S(1e30);
  Wide<S> max{}, norms_a{}, norms_b{};
  S rest = 0, norms = 0;
  std::int64_t i = first;
  for (; i + lanes<S> <= last; i += lanes<S>) {
    const Wide<S> xs = wide_at(x + i);
    const Wide<S> p = shrink_pack(a, xs, steps, i, max, norms_a);
    if (!b) continue;
    const Wide<S> q = shrink_pack(*b, xs, steps, i, max, norms_b);
    if (pair) wide_at(pair + i) = wide_at(pair + i) * p * q;
  }
  for (; i < last; ++i) {
    const S p = shrink_one(a, x[i], steps, i, rest, norms);
    if (!b) continue;
    const S q = shrink_one(*b, x[i], steps, i, rest, norms);
    if (pair) pair[i] = pair[i] * p * q;
  }
  Max<S> size(S(0));
  size.add(max);
  Sum<S> sum;
  sum.add(norms_a);
  sum.add(norms_b);
  return {size.total() > beyond || rest > beyond, is_tame(sum.total() + norms)};
}

}  // namespace obolus::kernels::softmax::OBOLUS_INSTRUCTIONS
