// The kernels with what they need of `softmax_l2`: batches by round, x by feature, and the dense form for rare cases.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "obolus/core/inner.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/softmax_l2.hpp"
#include "problems/softmax_batch.hpp"
#include "problems/softmax_engine.hpp"

namespace obolus {

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

  // The same without single features, by columns for several steps.
  kernels::softmax::BatchView whole(bool several) {
    steps_.wait();
    Slot& slot = whole_[problem_.drawn() ? 1 : 0];
    if (slot.round != problem_.round() || !slot.is(problem_.rows(), several)) {
      prepare(slot, problem_.rows(), several, problem_.drawn() ? common_of_draw_ : common_, false);
      slot.round = problem_.round();
    }
    return slot.batch->view();
  }

  // Prepares the next round's batch, or the next draw, while another thread works on the current one.
  const typename SoftmaxEngine<S>::Meanwhile& meanwhile() const { return prepare_next_; }

  // second.pair is a cache, which any reader may fill.
  void share(const Inner& first, const Inner& second, typename SoftmaxEngine<S>::Shared what) {
    if (!steps_.know(first, second, what)) steps_.refresh(first, const_cast<Inner&>(second), what);
  }

  // d by feature, of(first, count) at a time, summed by group where features share.
  template <class Of>
  void direction(Out<S> d, Of&& of) {
    by_feature(d, [&](S* to) {
      Eigen::Map<Vector<S>> all(to, problem_.pools().features());
      steps_.over_features(
          [&](Index first, Index last) { all.segment(first, last - first) = of(first, last - first); });
    });
  }
  // The same, all at once: fill(numbers by feature).
  template <class Fill>
  void by_feature(Out<S> d, Fill&& fill) {
    const bool own = problem_.group().empty();
    fill(own ? d.data() : product_.data());
    if (own) return;
    d.setZero();
    for (Index i = 0; i < product_.size(); ++i) d(static_cast<Index>(problem_.group_of(i))) += product_(i);
  }

  // The definition, for step sizes at which the rows of w depend on those of z.
  void dense_dual(In<S> x, Inner& z, Inner& w, DualStep step, std::int64_t n) {
    if (!dense_) dense_ = std::make_unique<Dense>(problem_);
    problem_.to_dense(z, dense_->first);
    problem_.to_dense(w, dense_->second);
    for (std::int64_t k = 0; k < n; ++k) dense_->space.descend_dual(problem_, x, dense_->first, dense_->second, step);
    problem_.from_dense(dense_->first, z);
    problem_.from_dense(dense_->second, w);
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

  void prepare(Slot& slot, const RoundRows& rows, bool several, std::size_t common, bool singles = true) {
    begin(slot, rows, several, common, singles);
    if (several) slot.batch->sort(slot.rows);
  }
  // Everything for one step; for several, everything but the sorting.
  void begin(Slot& slot, const RoundRows& rows, bool several, std::size_t common, bool singles = true) {
    slot.round = -1;
    slot.rows.clear();
    if (!slot.batch) slot.batch.emplace(train(), rows.size(), common);
    if (several) slot.batch->count(rows, singles);
    else slot.batch->build_once(rows);
    slot.rows = rows;
    slot.several = several;
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
  std::array<Slot, 2> whole_;  // of the round, and drawn
  Round next_round_ = -1;      // whose batch is prepared
  Round drawn_round_ = -1;
  std::size_t common_ = 0, common_of_draw_ = 0;
  RoundRows next_rows_;
  Vector<S> x_, product_;  // scratch, where features share
  std::unique_ptr<Dense> dense_;
  typename SoftmaxEngine<S>::Meanwhile prepare_next_{[this]() noexcept { return prepare_next(); },
                                                     [this]() noexcept { sort_next(); }};
};

}  // namespace obolus
