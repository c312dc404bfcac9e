// FSOBO's and SOBBO's rounds on lazy rows. What the linear system or the reverse pass adds lies in the documents'
// features alone; every other row of y and v shrinks, and every other row of the adjoint is 0.
#include <algorithm>
#include <atomic>

#include "problems/softmax_engine.hpp"

namespace obolus {

template <class S>
void SoftmaxEngine<S>::system(const Data& data, const S* x, Rows& y, Rows& v, SystemStep step) {
  if (!know(y, v, Shared::product)) refresh(y, v, Shared::product);
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  View vy = view(data, y, work_[0], step.alpha, data.rows, data.inner);
  View vv = view(data, v, work_[1], step.eta, data.inner, data.rows);
  run(2, [&](Index task) {
    View& it = task == 0 ? vy : vv;
    table_->begin(data, it, x, 1);
    it.reads = data.inner;
    table_->forward(data, it, 0, 1);
    if (task == 1) return;
    residuals(data, it, 0, {step.alpha, step.alpha * inner, 0.0, false});
    table_->backward(data, it, 0);
    it.reads = data.rows;
    table_->forward(data, it, 0, 1);
  });
  const double scale = fitted_ ? scale_of(data, vy, nullptr, 0, 0.0) : 1.0;
  over_rows(data, [&](int first, int last) {
    table_->residuals_system(data.label, data.inner, first, last, vy, vv, 0, data.rows,
                             {step.eta * inner, -step.eta * outer * scale, scale});
  });
  table_->backward(data, vv, 0);
  settle(data, x, y, vy, v, vv, Shared::product, 1);
  join(y, v, Shared::product);
}

// With ω^k the weights of step k and p^K = f_y(ω^K), p^k = (I − α g_yy(ω^k)) p^{k+1}:  h_i = −α Σ_k <ω_i^k, p_i^{k+1}>.
template <class S>
void SoftmaxEngine<S>::unroll(const Data& data, const S* x, Rows& y, double alpha, std::int64_t steps, S* h) {
  y.part();
  const double inner = 1.0 / std::max(1, data.inner), outer = 1.0 / std::max(1, data.rows - data.inner);
  if (ones_.size() < data.room) {
    ones_.grow(data.room);
    ones_.vector().setOnes();
  }
  product_.grow(data.room);
  sum_.grow(data.room);
  const auto path = grown(path_, steps * data.room), kept = grown(kept_, steps * data.rows);

  View it = view(data, y, work_[0], alpha, data.rows, data.inner);
  table_->begin(data, it, x, 1);
  it.reads = data.inner;
  for (std::int64_t k = 0; k < steps; ++k) {
    copy(it.compact, row_of(path, k * data.room), data.multi);
    table_->forward(data, it, 0, 1);
    copy(it.logits, row_of(kept, k * data.rows), data.inner);
    residuals(data, it, 0, {alpha, alpha * inner, 0.0, false});
    table_->backward(data, it, 0);
  }
  it.reads = data.rows;
  table_->forward(data, it, 0, 1);

  View p = it;
  p.compact = grown(work_[1].compact, data.room);
  p.logits = grown(work_[1].logits, data.rows);
  clear(p.compact, data.multi);
  clear(p.logits, data.inner);
  const double scale = fitted_ ? scale_of(data, it, nullptr, 0, 0.0) : 1.0;
  table_->residuals_system(data.label, data.inner, data.inner, data.rows, it, p, 0, data.rows,
                           {0.0, -outer * scale, scale});
  p.writes = data.rows;
  table_->backward(data, p, 0);
  p.reads = p.writes = data.inner;
  p.rows = p.compact;
  p.scale = ones_.data();
  std::fill_n(sum_.data(), data.multi, S(0));
  for (std::int64_t k = steps - 1; k >= 0; --k) {
    View then = p;
    then.rows = row_of(path, k * data.room);
    then.logits = row_of(kept, k * data.rows);
    table_->products(then, p, false, all_.data(), data.multi, product_.data());
    for (Index l = 0; l < data.multi; ++l) sum_[l] -= S(alpha) * product_[l];
    if (k == 0) break;
    table_->forward(data, p, 0, 1);
    table_->residuals_system(data.label, data.inner, 0, data.inner, then, p, 0, data.rows, {alpha * inner, 0.0, 1.0});
    table_->backward(data, p, 0);
  }

  std::atomic<bool> wild{false};
  over_features([&](Index first, Index last) {
    std::fill(h + first, h + last, S(0));
    if (table_->shrink(it, nullptr, nullptr, x, static_cast<int>(steps), first, last).wild_scales)
      wild.store(true, std::memory_order_relaxed);
  });
  table_->finish(data, it, x, static_cast<int>(steps));
  for (Index l = 0; l < data.multi; ++l) h[data.multi_feature[l]] = sum_[l];
  if (wild.load()) flatten(y);
}

template void SoftmaxEngine<float>::system(const Data&, const float*, Rows&, Rows&, SystemStep);
template void SoftmaxEngine<double>::system(const Data&, const double*, Rows&, Rows&, SystemStep);
template void SoftmaxEngine<float>::unroll(const Data&, const float*, Rows&, double, std::int64_t, float*);
template void SoftmaxEngine<double>::unroll(const Data&, const double*, Rows&, double, std::int64_t, double*);

}  // namespace obolus
