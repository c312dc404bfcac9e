// SOGD's round on two rows by feature (obolus/problems/lazy_momentum.hpp). With r = d^y − x_i y_i, and D_t the part of
// g_y that comes from documents,
//     r_t = (1 − η) r_{t−1} + D_t(u_t) − (1 − η) D_t(u_{t−1}),     y_{t+1} = (1 − βx_i) y_t − βr_t,
// and so for v. D^x = −<y_i, v_i> has no part from documents: d^x_t = D^x(u_t) for every t.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "obolus/core/to_size.hpp"
#include "problems/softmax_engine.hpp"

namespace obolus {
namespace {

constexpr double wild_numbers = 1e30;

template <class S>
auto part_of(const AlignedNumbers<S>& numbers, Index from, Index size) {
  return numbers.vector().segment(from, size).array();
}

}  // namespace

template <class S>
auto SoftmaxEngine<S>::make_momentum() const -> Momentum {
  const auto numbers = [&] { return AlignedNumbers<S>(features_); };
  const auto side = [&] { return Side{make(), make(), numbers(), numbers(), numbers()}; };
  return {side(), side(), numbers()};
}

template <class S>
void SoftmaxEngine<S>::momentum_from_dense(const S* x, const DenseMomentum<S>& from, Momentum& m) {
  const auto fill = [&](Side& side, const Vector<S>& last, const Vector<S>& d, double step, double scale, Index i) {
    const Index lines = side.base.in_lines(), rest = side.base.in_rest(), at = i * classes_;
    const auto r = d.segment(at, classes_) - x[i] * last.segment(at, classes_);
    side.base.line_of(i).head(lines) = last.segment(at, lines);
    side.base.rest_of(i).head(rest) = last.segment(at + lines, rest);
    side.drift.line_of(i).head(lines) = r.head(lines);
    side.drift.rest_of(i).head(rest) = r.tail(rest);
    side.base.scale[i] = S(scale) * (1 - S(step) * x[i]);
    side.along[i] = -S(scale * step);
    side.past_scale[i] = side.drift.scale[i] = 1;
    side.past_along[i] = 0;
  };
  over_features([&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      fill(m.y, from.y, from.d_y, from.y_step, 1.0, i);
      fill(m.v, from.v, from.d_v, from.v_step, from.v_scale, i);
      multiply(m, i);
    }
  });
}

template <class S>
void SoftmaxEngine<S>::multiply(Momentum& m, Index i) {
  const auto product = [i](const Rows& a, const Rows& b) {
    return a.line_of(i).dot(b.line_of(i)) + a.rest_of(i).dot(b.rest_of(i));
  };
  for (Side* side : {&m.y, &m.v}) {
    side->base.norm[i] = product(side->base, side->base);
    side->drift.norm[i] = product(side->drift, side->drift);
  }
  m.y.base.pair[i] = product(m.y.base, m.v.base);
  m.y.drift.pair[i] = product(m.y.drift, m.v.base);
  m.v.base.pair[i] = product(m.y.base, m.v.drift);
  m.v.drift.pair[i] = product(m.y.drift, m.v.drift);
  m.own[i] = product(m.v.base, m.v.drift);
}

template <class S>
auto SoftmaxEngine<S>::view(const Data& data, Side& side, Work& now, Work& past, Work& rest, double step) -> SideView {
  return {{side.base.lines.data(), side.base.rest.data()},
          {side.drift.lines.data(), side.drift.rest.data()},
          side.base.scale.data(),
          side.along.data(),
          side.past_scale.data(),
          side.past_along.data(),
          side.drift.scale.data(),
          side.base.norm.data(),
          side.drift.norm.data(),
          side.base.pair.data(),
          side.drift.pair.data(),
          cut_,
          S(step),
          grown(now.compact, data.room),
          grown(past.compact, data.room),
          grown(rest.compact, data.room)};
}

// r by what the documents say now, at u_t and at u_{t−1}; y and v as compact rows in work_[0] and work_[1].
template <class S>
void SoftmaxEngine<S>::momentum_of_documents(const Data& data, const SideView& y, const SideView& v, Momentum& m,
                                             const MomentumStep& step) {
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  const int points = step.keep_y == 0.0 && step.keep_v == 0.0 ? 1 : 2;
  // Whether y's or v's, by point in time.
  const auto of = [&](int point, bool is_v) {
    return view(data, is_v ? m.v.base : m.y.base, work_[to_size(2 * point + (is_v ? 1 : 0))], 0.0,
                is_v ? data.inner : data.rows, is_v ? data.rows : data.inner);
  };
  View of_y[] = {of(0, false), of(1, false)}, of_v[] = {of(0, true), of(1, true)};
  run(2, [&](Index task) {
    table_->momentum_begin(data, task == 0 ? y : v);
    for (int point = 0; point < points; ++point) {
      View& it = task == 0 ? of_y[point] : of_v[point];
      for (Index r = 0; r < it.reads; ++r) clear(row_of(it.single, r * kernels::softmax::block), 1);
      table_->forward(data, it, 0, 1);
    }
  });
  for (int point = 0; point < points; ++point) {
    const double scale = fitted_ ? scale_of(data, of_y[point], nullptr, 0, 0.0) : 1.0;
    over_rows(data, [&](int first, int last) {
      table_->residuals_system(data.label, data.inner, first, last, of_y[point], of_v[point], 0, data.rows,
                               {inner, -outer * scale, scale});
      table_->residuals(data.label, data.inner, first, std::min(last, data.inner), of_y[point], 0, data.rows,
                        {inner, 0.0, 1.0});
    });
  }
  // r ← keep r + D(u_t) − keep D(u_{t−1}): the kernel multiplies by `shrink` and subtracts.
  run(2, [&](Index task) {
    const View& now = task == 0 ? of_y[0] : of_v[0];
    const View& past = task == 0 ? of_y[1] : of_v[1];
    const S keep = S(task == 0 ? step.keep_y : step.keep_v);
    const auto combine = [&](S* to, const S* from, Index size) {
      for (Index i = 0; i < size; ++i) to[i] = (points == 2 ? keep * from[i] : S(0)) - to[i];
    };
    combine(now.logits.line, past.logits.line, now.writes * line_width_);
    combine(now.logits.rest, past.logits.rest, now.writes * rest_width_);
    View rest = now;
    rest.compact = (task == 0 ? y : v).rest;
    std::fill_n(rest.shrink, data.multi, keep);
    table_->backward(data, rest, 0);
  });
}

// A round of rows that no document touches. What has faded beyond any digit is 0, before it is too small a number to be
// fast.
template <class S>
void SoftmaxEngine<S>::move_on(Side& side, const S* x, double step, double keep, Index from, Index size) {
  constexpr S faint = sizeof(S) == 4 ? S(1e-30) : S(1e-200);
  const Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>> xs(x + from, size);
  auto scale = part_of(side.base.scale, from, size), along = part_of(side.along, from, size);
  auto fade = part_of(side.drift.scale, from, size);
  part_of(side.past_scale, from, size) = scale;
  part_of(side.past_along, from, size) = along;
  fade = (fade.abs() < faint).select(S(0), S(keep) * fade);
  along = (S(1) - S(step) * xs) * along - S(step) * fade;
  scale = (S(1) - S(step) * xs) * scale;
}

// A row whose numbers have become too large starts again, as a touched one does: A = y, E = r.
template <class S>
void SoftmaxEngine<S>::restart(Momentum& m, const S* x, const MomentumStep& step, Index i) {
  const auto again = [&](Side& side, S by) {
    const S scale = side.past_scale[i], along = side.past_along[i], fade = side.drift.scale[i];
    const auto rows = [&](auto base, auto drift) {
      base = scale * base + along * drift;
      drift *= fade;
    };
    rows(side.base.line_of(i), side.drift.line_of(i));
    rows(side.base.rest_of(i), side.drift.rest_of(i));
    side.base.scale[i] = 1 - by * x[i];
    side.along[i] = -by;
    side.past_scale[i] = side.drift.scale[i] = 1;
    side.past_along[i] = 0;
  };
  again(m.y, S(step.y_step));
  again(m.v, S(step.v_step));
  multiply(m, i);
}

template <class S>
void SoftmaxEngine<S>::bound(Momentum& m, double radius) const {
  double squares = 0.0;
  for (Index i = 0; i < features_; ++i) {
    const double scale = double(m.v.base.scale[i]), along = double(m.v.along[i]);
    squares += scale * scale * double(m.v.base.norm[i]) + 2.0 * scale * along * double(m.own[i]) +
               along * along * double(m.v.drift.norm[i]);
  }
  const double norm = std::sqrt(std::max(0.0, squares));
  if (!(norm > radius)) return;
  m.v.base.scale.vector() *= S(radius / norm);
  m.v.along.vector() *= S(radius / norm);
}

template <class S>
bool SoftmaxEngine<S>::is_finite(const Side& side) {
  std::atomic<bool> finite{true};
  over_features([&](Index from, Index to) {
    const Index size = to - from;
    const S sum = (part_of(side.base.scale, from, size).square() * part_of(side.base.norm, from, size) +
                   part_of(side.along, from, size).square() * part_of(side.drift.norm, from, size))
                      .sum();
    if (std::isfinite(sum)) return;
    for (Index i = from; i < to; ++i) {
      const auto weights = [&](const auto& base, const auto& drift) {
        return (side.base.scale[i] * base + side.along[i] * drift).allFinite();
      };
      if (!weights(side.base.line_of(i), side.drift.line_of(i)) ||
          !weights(side.base.rest_of(i), side.drift.rest_of(i)))
        finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite.load();
}

template <class S>
Status SoftmaxEngine<S>::momentum(const Data& data, const S* x, Momentum& m, const MomentumStep& step, S* d) {
  const SideView y = view(data, m.y, work_[0], work_[2], work_[4], step.y_step);
  const SideView v = view(data, m.v, work_[1], work_[3], work_[5], step.v_step);
  momentum_of_documents(data, y, v, m, step);
  std::atomic<bool> wild{false};
  over_features([&](Index first, Index last) {
    constexpr Index part = 1024;  // some twenty numbers by feature, which then stay in the cache
    for (Index from = first; from < last; from += part) {
      const Index size = std::min(part, last - from);
      const auto of = [&](const AlignedNumbers<S>& numbers) { return part_of(numbers, from, size); };
      Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>(d + from, size) =
          -(of(m.y.base.scale) * (of(m.v.base.scale) * of(m.y.base.pair) + of(m.v.along) * of(m.v.base.pair)) +
            of(m.y.along) * (of(m.v.base.scale) * of(m.y.drift.pair) + of(m.v.along) * of(m.v.drift.pair)));
      move_on(m.y, x, step.y_step, step.keep_y, from, size);
      move_on(m.v, x, step.v_step, step.keep_v, from, size);
      for (const Side* side : {&m.y, &m.v})
        if (std::max(of(side->base.scale).abs().maxCoeff(), of(side->along).abs().maxCoeff()) > S(wild_numbers))
          wild.store(true, std::memory_order_relaxed);
    }
  });
  table_->momentum_finish(data, y, v, m.own.data(), x);
  for (Index i = 0; wild.load() && i < features_; ++i)
    for (const Side* side : {&m.y, &m.v})
      if (std::max(std::abs(side->base.scale[i]), std::abs(side->along[i])) > S(wild_numbers)) {
        restart(m, x, step, i);
        break;
      }
  if (!is_finite(m.y)) return Status::non_finite_inner;
  if (!is_finite(m.v)) return Status::non_finite_system;
  if (step.radius) bound(m, *step.radius);
  return Status::ok;
}

template LazyMomentum<float> SoftmaxEngine<float>::make_momentum() const;
template LazyMomentum<double> SoftmaxEngine<double>::make_momentum() const;
template void SoftmaxEngine<float>::momentum_from_dense(const float*, const DenseMomentum<float>&, Momentum&);
template void SoftmaxEngine<double>::momentum_from_dense(const double*, const DenseMomentum<double>&, Momentum&);
template Status SoftmaxEngine<float>::momentum(const Data&, const float*, Momentum&, const MomentumStep&, float*);
template Status SoftmaxEngine<double>::momentum(const Data&, const double*, Momentum&, const MomentumStep&, double*);

}  // namespace obolus
