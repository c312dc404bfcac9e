#include "obolus/problems/softmax_l2.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>

#include "obolus/core/error.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/to_size.hpp"
#include "problems/softmax_data.hpp"
#include "problems/softmax_engine.hpp"

namespace obolus {
namespace {

void check_rows(const SparseRows& rows, const std::vector<std::int32_t>& labels, Index classes, const char* part) {
  const auto refuse = [&](std::size_t row, const std::string& what) {
    throw DataError(fmt::format("softmax_l2: row {} of {}: {}", row, part, what));
  };
  if (labels.size() + 1 != rows.start.size())
    throw DataError(fmt::format("softmax_l2: got {} labels of {}, expected {}", labels.size(), part, rows.rows()));
  for (std::size_t r = 0; r < labels.size(); ++r) {
    if (labels[r] < 0 || labels[r] >= classes)
      refuse(r, fmt::format("got label {}, expected 0 to {}", labels[r], classes - 1));
    std::int32_t before = -1;
    for (auto k = to_size(rows.start[r]); k < to_size(rows.start[r + 1]); ++k) {
      if (rows.column[k] <= before || rows.column[k] >= rows.columns)
        refuse(r, fmt::format("got column {} after {}, expected columns that ascend, below {}", rows.column[k], before,
                              rows.columns));
      before = rows.column[k];
    }
  }
}

// The kernels rely on it.
std::shared_ptr<const LabelledRows> checked(std::shared_ptr<const LabelledRows> data) {
  if (data->classes > kernels::softmax::max_classes)
    throw DataError(
        fmt::format("softmax_l2: got {} classes, expected at most {}", data->classes, kernels::softmax::max_classes));
  check_rows(data->train, data->train_label, data->classes, "train");
  check_rows(data->test, data->test_label, data->classes, "test");
  return data;
}

}  // namespace

// The kernels with what they need of the problem: batches by round, x by feature, and the dense form for what is rare.
template <class S>
class SoftmaxL2<S>::Engine {
 public:
  explicit Engine(SoftmaxL2& problem)
      : problem_(problem),
        steps_(problem.pools().data().train, problem.pools().classes(),
               problem.options().temperature == Temperature::fitted),
        x_(problem.group().empty() ? 0 : problem.pools().features()),
        product_(problem.group().empty() ? 0 : problem.pools().features()) {
    const std::int64_t batch = problem.options().batch, all = train().rows();
    common_ = common_features(train(), batch > 0 ? 2 * batch : all);
    common_of_draw_ = common_features(train(), batch > 0 ? 2 * batch : std::min<std::int64_t>(512, all));
  }

  ~Engine() { steps_.wait(); }

  SoftmaxEngine<S>& steps() { return steps_; }

  const S* x(In<S> x) {
    if (problem_.group().empty()) return x.data();
    for (Index i = 0; i < x_.size(); ++i) x_(i) = x(static_cast<Index>(problem_.group_of(i)));
    return x_.data();
  }

  // The rows that f and g are now. A draw that serves one step is not worth sorting.
  kernels::softmax::BatchView data(std::int64_t steps) {
    steps_.wait();
    if (problem_.drawn()) {
      const bool several = steps > 1;
      if (problem_.pools().given() && drawn_round_ != problem_.round()) drawn_.rows.clear();  // other data
      drawn_round_ = problem_.round();
      if (foreseen_.is(problem_.rows(), several)) std::swap(drawn_, foreseen_);
      if (!drawn_.is(problem_.rows(), several)) prepare(drawn_, problem_.rows(), several, common_of_draw_);
      return drawn_.batch->view();
    }
    Slot& slot = slots_[to_size(problem_.round() % 2)];
    if (slot.round != problem_.round()) {
      prepare(slot, problem_.rows(), true, common_);
      slot.round = problem_.round();
    }
    return slot.batch->view();
  }

  // What comes next is prepared while another thread works on what is: the next round's batch, or the next draw.
  const typename SoftmaxEngine<S>::Meanwhile& meanwhile() const { return prepare_next_; }

  // second.pair is a cache, which any reader may fill.
  void share(const Inner& first, const Inner& second, typename SoftmaxEngine<S>::Shared what) {
    if (!steps_.know(first, second, what)) steps_.refresh(first, const_cast<Inner&>(second), what);
  }

  // d by feature, of(first, count) at a time, summed by group where features share.
  template <class Of>
  void direction(Out<S> d, Of&& of) {
    const bool own = problem_.group().empty();
    Eigen::Map<Vector<S>> by_feature(own ? d.data() : product_.data(), problem_.pools().features());
    steps_.over_features([&](Index from, Index to) { by_feature.segment(from, to - from) = of(from, to - from); });
    if (own) return;
    d.setZero();
    for (Index i = 0; i < product_.size(); ++i) d(static_cast<Index>(problem_.group_of(i))) += product_(i);
  }

  // The definition, for step sizes under which w's rows take z's with them.
  void dense_dual(In<S> x, Inner& z, Inner& w, DualStep step, std::int64_t n) {
    if (!dense_) dense_ = std::make_unique<Dense>(problem_);
    problem_.to_dense(z, dense_->first), problem_.to_dense(w, dense_->second);
    for (std::int64_t k = 0; k < n; ++k) dense_->space.descend_dual(problem_, x, dense_->first, dense_->second, step);
    problem_.from_dense(dense_->first, z), problem_.from_dense(dense_->second, w);
  }

 private:
  struct Slot {
    Round round = -1;
    bool several = false;
    RoundRows rows;
    std::optional<SoftmaxBatch> batch;

    [[nodiscard]] bool is(const RoundRows& now, bool for_several) const {
      return batch && several == for_several && rows == now;
    }
  };
  struct Dense {
    explicit Dense(SoftmaxOracle<S>& p) : space(p), first(p.dims().y), second(p.dims().y) {}
    InnerSpace<SoftmaxOracle<S>> space;
    Vector<S> first, second;
  };

  [[nodiscard]] const SparseRows& train() const { return problem_.pools().data().train; }

  void prepare(Slot& slot, const RoundRows& rows, bool several, std::size_t common) {
    begin(slot, rows, several, common);
    if (several) slot.batch->sort(slot.rows);
  }
  // All of it for one step, and all but the sorting for several.
  void begin(Slot& slot, const RoundRows& rows, bool several, std::size_t common) {
    slot.round = -1;
    slot.rows.clear();
    if (!slot.batch) slot.batch.emplace(train(), rows.size(), common);
    if (several) slot.batch->count(rows);
    else slot.batch->build_once(rows);
    slot.rows = rows, slot.several = several;
  }
  // Whether the batch still has to be sorted.
  bool prepare_next() {
    if (problem_.pools().given()) return false;
    if (problem_.drawn()) {
      if (!steps_.threaded() || drawn_.several) return false;
      problem_.foresee(next_rows_);
      begin(foreseen_, next_rows_, false, common_of_draw_);
      return false;
    }
    if (problem_.options().batch == 0) return false;
    next_round_ = problem_.round() + 1;
    Slot& slot = slots_[to_size(next_round_ % 2)];
    if (slot.round == next_round_) return false;
    problem_.pools().of_round(next_round_, next_rows_);
    begin(slot, next_rows_, true, common_);
    return true;
  }
  // The round may have changed by then.
  void sort_next() {
    Slot& slot = slots_[to_size(next_round_ % 2)];
    slot.batch->sort(slot.rows);
    slot.round = next_round_;
  }

  SoftmaxL2& problem_;
  SoftmaxEngine<S> steps_;
  std::array<Slot, 2> slots_;
  Slot drawn_, foreseen_;
  Round next_round_ = -1;  // whose batch is prepared
  Round drawn_round_ = -1;
  std::size_t common_ = 0, common_of_draw_ = 0;
  RoundRows next_rows_;
  Vector<S> x_, product_;  // scratch, where features share
  std::unique_ptr<Dense> dense_;
  typename SoftmaxEngine<S>::Meanwhile prepare_next_{[this]() noexcept { return prepare_next(); },
                                                     [this]() noexcept { sort_next(); }};
};

template <class S>
SoftmaxL2<S>::SoftmaxL2(const SoftmaxOptions& options, std::uint64_t seed)
    : SoftmaxL2(options, load_rows(options, seed), seed) {}
template <class S>
SoftmaxL2<S>::SoftmaxL2(const SoftmaxOptions& options, std::shared_ptr<const LabelledRows> data, std::uint64_t seed)
    : SoftmaxOracle<S>(options, checked(std::move(data)), seed), engine_(std::make_unique<Engine>(*this)) {}
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
  to.lines = from.lines, to.rest = from.rest, to.scale = from.scale, to.norm = from.norm;
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

template class SoftmaxL2<float>;
template class SoftmaxL2<double>;

}  // namespace obolus
