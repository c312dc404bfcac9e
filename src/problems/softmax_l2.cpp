#include "obolus/problems/softmax_l2.hpp"

#include <atomic>
#include <cmath>

#include "problems/softmax_data.hpp"
#include "problems/softmax_l2_engine.hpp"

namespace obolus {
template <class S>
SoftmaxL2<S>::SoftmaxL2(const SoftmaxOptions& options, std::uint64_t seed)
    : SoftmaxL2(options, load_rows(options, seed), seed) {}
template <class S>
SoftmaxL2<S>::SoftmaxL2(const SoftmaxOptions& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed)
    : SoftmaxOracle<S>(options, require_valid(std::move(data)), seed), engine_(std::make_unique<Engine>(*this)) {}
template <class S>
SoftmaxL2<S>::~SoftmaxL2() = default;

template <class S>
void SoftmaxL2<S>::set_threads(int threads) {
  engine_->steps().set_threads(threads);
}
template <class S>
const char* SoftmaxL2<S>::kernels() const {
  return engine_->steps().table().name;
}

template <class S>
auto SoftmaxL2<S>::make_inner() -> Inner {
  return engine_->steps().make();
}

template <class S>
void SoftmaxL2<S>::to_dense(const Inner& inner, Out<S> out) {
  engine_->steps().over_features([&](Index from, Index to) {
    for (Index i = from; i < to; ++i) {
      out.segment(i * inner.classes, inner.in_lines()) = inner.scale[i] * inner.line_of(i).head(inner.in_lines());
      out.segment(i * inner.classes + inner.in_lines(), inner.in_rest()) =
          inner.scale[i] * inner.rest_of(i).head(inner.in_rest());
    }
  });
}

template <class S>
void SoftmaxL2<S>::from_dense(In<S> in, Inner& inner) {
  inner.part();
  engine_->steps().over_features([&](Index from, Index to) {
    for (Index i = from; i < to; ++i) {
      inner.line_of(i).head(inner.in_lines()) = in.segment(i * inner.classes, inner.in_lines());
      inner.rest_of(i).head(inner.in_rest()) = in.segment(i * inner.classes + inner.in_lines(), inner.in_rest());
      inner.scale[i] = S(1);
      inner.norm[i] = in.segment(i * inner.classes, inner.classes).squaredNorm();
    }
  });
}

template <class S>
void SoftmaxL2<S>::copy(const Inner& from, Inner& to) {
  to.lines = from.lines;
  to.rest = from.rest;
  to.scale = from.scale;
  to.norm = from.norm;
  to.part();
}

template <class S>
void SoftmaxL2<S>::axpy(double a, const Inner& from, Inner& to) {
  to.part();
  engine_->steps().over_features([&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const S own = to.scale[i], more = S(a) * from.scale[i];
      to.line_of(i) = own * to.line_of(i) + more * from.line_of(i);
      to.rest_of(i) = own * to.rest_of(i) + more * from.rest_of(i);
      to.scale[i] = S(1);
      to.norm[i] = to.line_of(i).squaredNorm() + to.rest_of(i).squaredNorm();
    }
  });
}

template <class S>
bool SoftmaxL2<S>::all_finite(const Inner& inner) {
  if (inner.finite) return true;
  std::atomic<bool> finite{true};
  engine_->steps().over_features([&](Index from, Index to) {
    if (!std::isfinite(inner.norm.vector().segment(from, to - from).sum()))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

template <class S>
void SoftmaxL2<S>::descend(In<S> x, Inner& z, double alpha, std::int64_t steps) {
  const auto data = engine_->data(steps);
  const double inner = 1.0 / std::max(1, data.inner);
  engine_->steps().plain(data, engine_->x(x), z, {alpha, alpha * inner, 0.0, false}, steps);
}

template <class S>
void SoftmaxL2<S>::descend_penalised(In<S> x, Inner& y, double beta, Penalty penalty, std::int64_t steps) {
  const auto data = engine_->data(steps);
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  engine_->steps().plain(data, engine_->x(x), y,
                         {beta * penalty.g, beta * penalty.g * inner, beta * penalty.f * outer, true}, steps);
}

template <class S>
void SoftmaxL2<S>::descend_pair(In<S> x, Inner& y, Inner& z, double beta, Penalty penalty, double alpha,
                                std::int64_t steps) {
  const auto data = engine_->data(steps);
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  engine_->steps().pair(data, engine_->x(x), y, z,
                        {beta * penalty.g, beta * penalty.g * inner, beta * penalty.f * outer, true},
                        {alpha, alpha * inner, 0.0, false}, steps, engine_->meanwhile());
}

template <class S>
void SoftmaxL2<S>::descend_dual(In<S> x, Inner& z, Inner& w, DualStep step, std::int64_t steps) {
  if (std::abs(step.lambda * step.beta - step.alpha) > 1e-14 * step.alpha)
    return engine_->dense_dual(x, z, w, step, steps);
  engine_->steps().dual(engine_->data(steps), engine_->x(x), z, w, step.alpha, step.lambda, steps,
                        engine_->meanwhile());
}

template <class S>
void SoftmaxL2<S>::descend_central(In<S> x, Inner& c, Inner& w, CentralStep step, std::int64_t steps) {
  engine_->steps().central(engine_->data(steps), engine_->x(x), c, w, step.beta, step.lambda, steps,
                           engine_->meanwhile());
}

// f_x = 0; λ(g_x(y) − g_x(z)) = ½ λ (|y_i|² − |z_i|²)
template <class S>
void SoftmaxL2<S>::penalty_direction(In<S>, const Inner& y, const Inner& z, double lambda, Out<S> d) {
  engine_->share(z, y, SoftmaxEngine<S>::Shared::difference);
  engine_->direction(d, [&](Index i, Index n) { return S(0.5 * lambda) * y.pair.vector().segment(i, n); });
}

// <z_i, w_i> + |w_i|²/(2λ)
template <class S>
void SoftmaxL2<S>::dual_direction(In<S>, const Inner& z, const Inner& w, double lambda, Out<S> d) {
  engine_->share(z, w, SoftmaxEngine<S>::Shared::product);
  engine_->direction(d, [&](Index i, Index n) {
    return w.pair.vector().segment(i, n) + S(0.5 / lambda) * w.norm.vector().segment(i, n);
  });
}

// ½ λ (½|c + w/λ|² − ½|c − w/λ|²) = <c, w>
template <class S>
void SoftmaxL2<S>::central_direction(In<S>, const Inner& c, const Inner& w, double, Out<S> d) {
  engine_->share(c, w, SoftmaxEngine<S>::Shared::product);
  engine_->direction(d, [&](Index i, Index n) { return w.pair.vector().segment(i, n); });
}

template <class S>
void SoftmaxL2<S>::descend_system(In<S> x, Inner& y, Inner& v, SystemStep step) {
  engine_->steps().system(engine_->whole(false), engine_->x(x), y, v, step);
}

// f_x = 0; g_xy v = <y_i, v_i>
template <class S>
void SoftmaxL2<S>::implicit_direction(In<S>, const Inner& y, const Inner& v, Out<S> d) {
  engine_->share(y, v, SoftmaxEngine<S>::Shared::product);
  engine_->direction(d, [&](Index i, Index n) { return -v.pair.vector().segment(i, n); });
}

template <class S>
void SoftmaxL2<S>::bound(Inner& v, double radius) {
  const double norm = std::sqrt(v.norm.vector().template cast<double>().sum());
  if (!(norm > radius)) return;
  const S factor = S(radius / norm);
  v.scale.vector() *= factor;
  v.pair.vector() *= factor;
  v.norm.vector() *= factor * factor;
}

template <class S>
void SoftmaxL2<S>::unroll(In<S> x, Inner& y, double alpha, std::int64_t steps, Out<S> h) {
  engine_->by_feature(
      h, [&](S* to) { engine_->steps().unroll(engine_->whole(true), engine_->x(x), y, alpha, steps, to); });
}

template <class S>
auto SoftmaxL2<S>::make_momentum() -> Momentum {
  return engine_->steps().make_momentum();
}
template <class S>
void SoftmaxL2<S>::momentum_from_dense(const DenseMomentum<S>& from, Momentum& m) {
  engine_->steps().momentum_from_dense(engine_->x(from.x), from, m);
}
template <class S>
void SoftmaxL2<S>::momentum_y(const Momentum& m, Out<S> y) {
  const auto& side = m.y;
  const Index lines = side.base.in_lines(), rest = side.base.in_rest();
  engine_->steps().over_features([&](Index from, Index to) {
    for (Index i = from; i < to; ++i) {
      const S scale = side.base.scale[i], along = side.along[i];
      const Index at = i * side.base.classes;
      y.segment(at, lines) = scale * side.base.line_of(i).head(lines) + along * side.drift.line_of(i).head(lines);
      y.segment(at + lines, rest) = scale * side.base.rest_of(i).head(rest) + along * side.drift.rest_of(i).head(rest);
    }
  });
}
template <class S>
Status SoftmaxL2<S>::momentum_round(In<S> x, Momentum& m, const MomentumStep& step, Out<S> d) {
  Status status = Status::ok;
  engine_->by_feature(
      d, [&](S* to) { status = engine_->steps().momentum(engine_->whole(false), engine_->x(x), m, step, to); });
  return status;
}

template class SoftmaxL2<float>;
template class SoftmaxL2<double>;

}  // namespace obolus
