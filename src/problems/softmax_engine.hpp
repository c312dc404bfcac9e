// The steps of `softmax_l2` on lazy rows: which kernel runs when, on which thread.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/softmax/kernels.hpp"
#include "obolus/core/parallel.hpp"
#include "obolus/core/whole_rounds.hpp"
#include "obolus/problems/lazy_momentum.hpp"
#include "obolus/problems/lazy_rows.hpp"
#include "obolus/problems/softmax_pools.hpp"
#include "problems/softmax_batch.hpp"

namespace obolus {

template <class S>
class SoftmaxEngine {
 public:
  using Rows = LazyRows<S>;
  using View = kernels::softmax::IterateView<S>;
  using Weights = kernels::softmax::Weights;
  // Work for an idle thread: `early` beside the steps; then, if it returns true, `late` beside anything until wait().
  struct Meanwhile {
    std::function<bool()> early;
    std::function<void()> late;
  };

  SoftmaxEngine(const SparseRows& data, Index classes, bool fitted);

  void set_threads(int threads) {
    wait();
    pool_ = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr;
  }
  [[nodiscard]] bool threaded() const { return pool_ != nullptr; }
  [[nodiscard]] const kernels::softmax::Kernels<S>& table() const { return *table_; }
  [[nodiscard]] Rows make() const;

  using Data = kernels::softmax::BatchView;
  // θ ← (1 − decay x) θ − residuals with these weights; without an outer weight f's rows are not read.
  struct Plain {
    double decay = 0, inner = 0, outer = 0;
    bool reads_outer = false;
  };

  void plain(const Data& data, const S* x, Rows& it, const Plain& step, std::int64_t steps);
  void pair(const Data& data, const S* x, Rows& y, Rows& z, const Plain& of_y, const Plain& of_z, std::int64_t steps,
            const Meanwhile& meanwhile);
  // w = λ(y − z) with λβ = α
  void dual(const Data& data, const S* x, Rows& z, Rows& w, double alpha, double lambda, std::int64_t steps,
            const Meanwhile& meanwhile);
  void central(const Data& data, const S* x, Rows& c, Rows& w, double beta, double lambda, std::int64_t steps,
               const Meanwhile& meanwhile);

  // On batches without single features (softmax_implicit.cpp, softmax_momentum.cpp). FSOBO's round:
  void system(const Data& data, const S* x, Rows& y, Rows& v, SystemStep step);
  // K steps of y; h, by feature, is the derivative through them.
  void unroll(const Data& data, const S* x, Rows& y, double alpha, std::int64_t steps, S* h);
  // SOGD's round; d by feature.
  using Momentum = LazyMomentum<S>;
  using Side = typename Momentum::Side;
  [[nodiscard]] Momentum make_momentum() const;
  void momentum_from_dense(const S* x, const DenseMomentum<S>& from, Momentum& m);
  [[nodiscard]] Status momentum(const Data& data, const S* x, Momentum& m, const MomentumStep& step, S* d);

  // What a pair shares, in second.pair: <first_i, second_i>, or |second_i|² − |first_i|².
  enum class Shared : std::uint8_t { product, difference };
  // Whether it is there. The last bit of a mark says which of them, the one before it who is the second.
  [[nodiscard]] static bool know(const Rows& first, const Rows& second, Shared what) {
    return first.mark != 0 && (first.mark & 3) == (what == Shared::difference ? 1 : 0) && second.mark == first.mark + 2;
  }
  // Computes it anew and leaves `second` without a partner.
  void refresh(const Rows& first, Rows& second, Shared what);

  // Until background work is done.
  void wait() {
    if (pool_) pool_->finish();
  }

  // body(first, last) over features in chunks that do not depend on the threads
  template <class Body>
  void over_features(Body&& body) {
    constexpr Index chunk = 8192;
    const Index chunks = (features_ + chunk - 1) / chunk;
    run(chunks, [&](Index i) { body(i * chunk, std::min(features_, (i + 1) * chunk)); });
  }
  template <class Body>
  void over_rows(const Data& data, Body&& body) {
    constexpr int chunk = 64;
    run((data.rows + chunk - 1) / chunk, [&](Index i) {
      const int first = static_cast<int>(i) * chunk;
      body(first, std::min(data.rows, first + chunk));
    });
  }
  template <class Body>
  void run(Index tasks, Body&& body) {
    if (pool_) pool_->run(tasks, body);
    else
      for (Index i = 0; i < tasks; ++i) body(i);
  }

 private:
  struct Matrix {
    AlignedNumbers<S> lines, rest;
  };
  struct Work {
    Matrix compact, single, logits;
    AlignedNumbers<S> shrink, moment;
  };

  // At least as many rows.
  [[nodiscard]] kernels::softmax::Rows<S> grown(Matrix& matrix, Index rows) const {
    matrix.lines.grow(rows * line_width_);
    matrix.rest.grow(rows * rest_width_);
    return {matrix.lines.data(), matrix.rest.data()};
  }

  View view(const Data& data, Rows& it, Work& work, double decay, int reads, int writes);
  // Logits to residuals of step k, on the caller's thread.
  void residuals(const Data& data, View& it, int k, const Plain& step);
  void one(const Data& data, const S* x, View& it, const Plain& step, int steps);
  // Two iterates whose residuals depend on both; f's rows change the first only if it does not merely read them.
  template <class Residual>
  void coupled(const Data& data, const S* x, Rows& a, Rows& b, double decay, bool first_reads_only, std::int64_t steps,
               const Meanwhile& meanwhile, Residual&& residual);
  // The fitted scale of the logits of step k: a's, or a's and so much of b's.
  [[nodiscard]] double scale_of(const Data& data, const View& a, const View* b, int k, double part) const;
  void settle(const Data& data, const S* x, Rows& first, View& a, Rows& second, View& b, Shared what, int steps);
  // Whether all norms are tame.
  bool finish_pair(const Data& data, const S* x, const View& a, const View& b, bool difference, S* pair, int steps);
  void start_late(const Meanwhile& meanwhile) {
    if (pool_) pool_->start(meanwhile.late);
    else meanwhile.late();
  }
  void flatten(Rows& it);

  using Compact = kernels::softmax::Rows<S>;
  [[nodiscard]] Compact row_of(const Compact& rows, Index i) const {
    return {rows.line + i * line_width_, rows.rest + i * rest_width_};
  }
  void copy(const Compact& from, const Compact& to, Index rows) const {
    std::copy_n(from.line, rows * line_width_, to.line);
    std::copy_n(from.rest, rows * rest_width_, to.rest);
  }
  void clear(const Compact& to, Index rows) const {
    std::fill_n(to.line, rows * line_width_, S(0));
    std::fill_n(to.rest, rows * rest_width_, S(0));
  }

  using SideView = kernels::softmax::MomentumView<S>;
  SideView view(const Data& data, Side& side, Work& now, Work& past, Work& rest, double step);
  void momentum_of_documents(const Data& data, const SideView& y, const SideView& v, Momentum& m,
                             const MomentumStep& step);
  static void move_on(Side& side, const S* x, double step, double keep, Index from, Index size);
  static void restart(Momentum& m, const S* x, const MomentumStep& step, Index i);
  static void multiply(Momentum& m, Index i);
  void bound(Momentum& m, double radius) const;
  [[nodiscard]] bool is_finite(const Side& side);
  static void join(Rows& first, Rows& second, Shared what);

  Index features_;
  int classes_;
  kernels::softmax::Cut cut_;
  Index line_width_, rest_width_;
  bool fitted_;
  const kernels::softmax::Kernels<S>* table_;
  std::unique_ptr<ThreadPool> pool_;
  std::array<Work, 6> work_;
  Matrix path_, kept_;                      // of `unroll`: weights and logits of every step
  AlignedNumbers<S> ones_, product_, sum_;  // of `unroll`, by feature of the batch
  std::vector<std::int32_t> all_;           // every feature
};

}  // namespace obolus
