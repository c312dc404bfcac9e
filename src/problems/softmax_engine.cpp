#include "problems/softmax_engine.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "obolus/core/to_size.hpp"
#include "problems/fitted_scale.hpp"

namespace obolus {
namespace {

std::atomic<std::uint64_t> next_mark{1};

}  // namespace

template <class S>
SoftmaxEngine<S>::SoftmaxEngine(const SparseRows& data, Index classes, bool fitted)
    : features_(data.columns),
      classes_(static_cast<int>(classes)),
      cut_(kernels::softmax::cut_of<S>(classes_)),
      line_width_(cut_.lines * 64 / static_cast<int>(sizeof(S))),
      rest_width_(cut_.quarters * 16 / static_cast<int>(sizeof(S))),
      fitted_(fitted),
      table_(&kernels::softmax::table<S>(cut_)),
      all_(to_size(data.columns)) {
  std::iota(all_.begin(), all_.end(), 0);
}

template <class S>
auto SoftmaxEngine<S>::make() const -> Rows {
  Rows rows{features_,
            classes_,
            line_width_,
            rest_width_,
            AlignedNumbers<S>(features_ * line_width_),
            AlignedNumbers<S>(features_ * rest_width_),
            AlignedNumbers<S>(features_),
            AlignedNumbers<S>(features_),
            AlignedNumbers<S>(features_),
            0};
  rows.scale.vector().setOnes();
  return rows;
}

// A mark of their own, whatever they were to others before. A saved one is restored with both of its bearers.
template <class S>
void SoftmaxEngine<S>::join(Rows& first, Rows& second, Shared what) {
  const std::uint64_t number = next_mark.fetch_add(1, std::memory_order_relaxed);
  first.mark = 4 * number + (what == Shared::difference ? 1 : 0);
  second.mark = first.mark + 2;
}

template <class S>
auto SoftmaxEngine<S>::view(const Data& data, Rows& it, Work& work, double decay, int reads, int writes) -> View {
  const Index rows = data.rows, steps = data.by_columns ? kernels::softmax::block : 1;
  work.moment.grow(kernels::softmax::block * rows);
  work.shrink.grow(data.room);
  return {{it.lines.data(), it.rest.data()},
          it.scale.data(),
          it.norm.data(),
          cut_,
          classes_,
          S(decay),
          reads,
          writes,
          grown(work.compact, data.room),
          work.shrink.data(),
          grown(work.single, kernels::softmax::block * rows),
          work.moment.data(),
          grown(work.logits, steps * rows)};
}

template <class S>
double SoftmaxEngine<S>::scale_of(const Data& data, const View& a, const View* b, int k, double part) const {
  return fitted_scale(sizeof(S) == 4 ? 1e-6 : 1e-14, [&](double scale, double& slope, double& curvature) {
    table_->scale_slope(data.label, data.inner, data.rows, a, b, k, data.rows, part, scale, &slope, &curvature);
  });
}

template <class S>
void SoftmaxEngine<S>::residuals(const Data& data, View& it, int k, const Plain& step) {
  const double scale = fitted_ && step.reads_outer ? scale_of(data, it, nullptr, k, 0.0) : 1.0;
  table_->residuals(data.label, data.inner, 0, it.reads, it, k, data.rows, {step.inner, step.outer * scale, scale});
}

template <class S>
void SoftmaxEngine<S>::one(const Data& data, const S* x, View& it, const Plain& step, int steps) {
  table_->begin(data, it, x, steps);
  for (int k = 0; k < steps; ++k) {
    table_->forward(data, it, k, steps);
    residuals(data, it, k, step);
    table_->backward(data, it, k);
  }
}

template <class S>
void SoftmaxEngine<S>::plain(const Data& data, const S* x, Rows& it, const Plain& step, std::int64_t steps) {
  it.part();
  const int max = data.by_columns ? kernels::softmax::block : 1;
  for (std::int64_t done = 0; done < steps; done += max) {
    const int n = static_cast<int>(std::min<std::int64_t>(max, steps - done));
    const int rows = step.reads_outer ? data.rows : data.inner;
    View v = view(data, it, work_[0], step.decay, rows, rows);
    one(data, x, v, step, n);
    std::atomic<bool> wild{false};
    over_features([&](Index first, Index last) {
      if (table_->shrink(v, nullptr, nullptr, x, n, first, last).wild_scales)
        wild.store(true, std::memory_order_relaxed);
    });
    table_->finish(data, v, x, n);
    if (wild.load()) flatten(it);
  }
}

// The end of a block of steps of a pair: untouched features shrink, touched ones are stored, and so is what the pair
// shares.
template <class S>
void SoftmaxEngine<S>::settle(const Data& data, const S* x, Rows& first, View& a, Rows& second, View& b, Shared what,
                              int steps) {
  std::atomic<bool> wild{false}, tame{true};
  S* pair = second.pair.data();
  const bool difference = what == Shared::difference;
  const bool shrinks = !difference || a.decay == b.decay;
  over_features([&](Index from, Index to) {
    const kernels::softmax::Sizes sizes = table_->shrink(a, &b, shrinks ? pair : nullptr, x, steps, from, to);
    if (sizes.wild_scales) wild.store(true, std::memory_order_relaxed);
    if (!sizes.tame_norms) tame.store(false, std::memory_order_relaxed);
    for (Index i = from; !shrinks && i < to; ++i) pair[i] = b.norm[i] - a.norm[i];
  });
  const bool finished = finish_pair(data, x, a, b, difference, pair, steps);
  first.finite = second.finite = finished && tame.load() && !wild.load();
  if (wild.load()) {
    flatten(first);
    flatten(second);
    refresh(first, second, what);
  }
}

template <class S>
bool SoftmaxEngine<S>::finish_pair(const Data& data, const S* x, const View& a, const View& b, bool difference, S* pair,
                                   int steps) {
  constexpr int rows = 64, features = 1024;
  const Index row_chunks = (data.rows + rows - 1) / rows, chunks = row_chunks + (data.multi + features - 1) / features;
  std::atomic<bool> tame{true};
  run(chunks, [&](Index i) {
    bool is = true;
    if (i < row_chunks) {
      const int first = static_cast<int>(i) * rows;
      is = table_->finish_singles(data, a, b, x, steps, difference, pair, first, std::min(data.rows, first + rows));
    } else {
      const int first = static_cast<int>(i - row_chunks) * features;
      is = table_->finish_multi(data, a, b, difference, pair, first, std::min(data.multi, first + features));
    }
    if (!is) tame.store(false, std::memory_order_relaxed);
  });
  return tame.load();
}

template <class S>
void SoftmaxEngine<S>::refresh(const Rows& first, Rows& second, Shared what) {
  const bool difference = what == Shared::difference;
  const Data none{};
  const View a = view(none, const_cast<Rows&>(first), work_[1], 0.0, 0, 0), b = view(none, second, work_[0], 0.0, 0, 0);
  over_features([&](Index from, Index to) {
    table_->products(a, b, difference, all_.data() + from, to - from, second.pair.data());
  });
  second.mark = 0;
}

template <class S>
void SoftmaxEngine<S>::flatten(Rows& it) {
  over_features([&](Index from, Index to) {
    for (Index i = from; i < to; ++i) {
      // Zeros stay, whatever the scale has come to.
      const auto scaled = [&](auto row) { row = (row.array() != S(0)).select(row * it.scale[i], S(0)); };
      scaled(it.line_of(i));
      scaled(it.rest_of(i));
      it.scale[i] = S(1);
      it.norm[i] = it.line_of(i).squaredNorm() + it.rest_of(i).squaredNorm();
    }
  });
}

template <class S>
void SoftmaxEngine<S>::pair(const Data& data, const S* x, Rows& y, Rows& z, const Plain& of_y, const Plain& of_z,
                            std::int64_t steps, const Meanwhile& meanwhile) {
  if (!know(z, y, Shared::difference)) refresh(z, y, Shared::difference);
  const int max = data.by_columns ? kernels::softmax::block : 1;
  for (std::int64_t done = 0; done < steps; done += max) {
    const int n = static_cast<int>(std::min<std::int64_t>(max, steps - done));
    View vy = view(data, y, work_[0], of_y.decay, data.rows, data.rows);
    View vz = view(data, z, work_[1], of_z.decay, data.inner, data.inner);
    run(done == 0 ? 3 : 2, [&](Index task) {
      if (task == 0) one(data, x, vy, of_y, n);
      else if (task == 1) one(data, x, vz, of_z, n);
      else if (meanwhile.early()) start_late(meanwhile);
    });
    settle(data, x, z, vz, y, vy, Shared::difference, n);
  }
  join(z, y, Shared::difference);
}

template <class S>
template <class Residual>
void SoftmaxEngine<S>::coupled(const Data& data, const S* x, Rows& a, Rows& b, double decay, bool first_reads_only,
                               std::int64_t steps, const Meanwhile& meanwhile, Residual&& residual) {
  if (!know(a, b, Shared::product)) refresh(a, b, Shared::product);
  const int rows = data.rows, max = data.by_columns ? kernels::softmax::block : 1;
  bool more = false;
  for (std::int64_t done = 0; done < steps; done += max) {
    const int n = static_cast<int>(std::min<std::int64_t>(max, steps - done));
    View va = view(data, a, work_[0], decay, rows, first_reads_only ? data.inner : rows);
    View vb = view(data, b, work_[1], decay, rows, rows);
    for (int k = 0; k < n; ++k) {
      const bool first = done == 0 && k == 0;  // background work takes longest, so it starts first
      run(first ? 3 : 2, [&](Index task) {
        if (first && task == 0) {
          more = meanwhile.early();
          return;
        }
        View& it = task == (first ? 1 : 0) ? vb : va;
        if (k == 0) table_->begin(data, it, x, n);
        else table_->backward(data, it, k - 1);
        table_->forward(data, it, k, n);
      });
      residual(va, vb, k);
    }
    run(2, [&](Index task) { table_->backward(data, task == 0 ? vb : va, n - 1); });
    if (more && done == 0) start_late(meanwhile);
    settle(data, x, a, va, b, vb, Shared::product, n);
  }
  join(a, b, Shared::product);
}

template <class S>
void SoftmaxEngine<S>::dual(const Data& data, const S* x, Rows& z, Rows& w, double alpha, double lambda,
                            std::int64_t steps, const Meanwhile& meanwhile) {
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  coupled(data, x, z, w, alpha, true, steps, meanwhile, [&](View& a, View& b, int k) {
    const double scale = fitted_ ? scale_of(data, a, &b, k, 1.0 / lambda) : 1.0;
    over_rows(data, [&](int first, int last) {
      table_->residuals_dual(data.label, data.inner, first, last, a, b, k, data.rows, lambda, {alpha * inner, 0.0, 1.0},
                             {alpha * lambda * inner, alpha * outer * scale, scale});
    });
  });
}

template <class S>
void SoftmaxEngine<S>::central(const Data& data, const S* x, Rows& c, Rows& w, double beta, double lambda,
                               std::int64_t steps, const Meanwhile& meanwhile) {
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  coupled(data, x, c, w, beta * lambda, false, steps, meanwhile, [&](View& a, View& b, int k) {
    const auto scale = [&](double part) { return fitted_ ? scale_of(data, a, &b, k, part / lambda) : 1.0; };
    const double up = scale(1.0), down = scale(-1.0);
    over_rows(data, [&](int first, int last) {
      table_->residuals_central(data.label, data.inner, first, last, a, b, k, data.rows, lambda,
                                {beta * lambda * inner, beta * outer * up, up},
                                {beta * lambda * inner, beta * outer * down, down});
    });
  });
}

template class SoftmaxEngine<float>;
template class SoftmaxEngine<double>;

}  // namespace obolus
