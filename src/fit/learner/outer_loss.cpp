#include "fit/learner/outer_loss.hpp"

#include <algorithm>

#include "fit/model/softmax.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
bool OuterLoss<S>::measure(const RoundBatch<S>& batch, const Weights<S>& weights, const Hyperparameters& hyper,
                           bool residuals) {
  std::ranges::fill(slope_, 0.0);
  residual_.clear();
  value_ = 0;
  share_.clear();
  double all = 0;
  for (const LearnerRow* row : batch.rows) {
    double w = static_cast<double>(row->weight);
    if (loss_ == Loss::classes) {
      double& of_class = class_weight_[to_size(row->label)];
      of_class += w;
      if (balanced_) w /= of_class;
    }
    share_.push_back(w);
    all += w;
  }
  if (!(all > 0)) return false;
  const auto width = to_size(weights.product_width());
  for (int r = 0; r < batch.size(); ++r) {
    const double share = share_[to_size(r)] / all;
    add_row(batch, r, share, weights, hyper);
    if (!residuals) continue;
    for (const double d : derivative_) residual_.push_back(S(share * d));
    residual_.resize(to_size(r + 1) * width);
  }
  return true;
}

template <class S>
void OuterLoss<S>::add_row(const RoundBatch<S>& batch, int r, double share, const Weights<S>& weights,
                           const Hyperparameters& hyper) {
  const int outputs = weights.outputs();
  const auto logit = [&](int part, int c) {
    return static_cast<double>(batch.logits[to_size((part * outputs + c) * batch.stride + r)]);
  };
  const double warmth = 1 / hyper.value(Tunable::temperature, 1.0);
  value_ += row_loss(*batch.rows[to_size(r)], share, outputs, warmth, logit);
  int part = 0;
  for (std::size_t i = 0; i < hyper.list.size(); ++i) {
    const Hyperparameter& h = hyper.list[i];
    if (h.has_part()) ++part;
    if (!h.tuned) continue;
    const bool direct = h.kind == Tunable::temperature;  // d(logit/T)/dln T = −logit/T
    double sum = 0;
    for (int c = 0; c < outputs; ++c) sum += derivative_[to_size(c)] * logit(direct ? 0 : part, c);
    slope_[i] += (direct ? -1 : 1) * share * sum;
  }
}

template <class S>
template <class Logit>
double OuterLoss<S>::row_loss(const LearnerRow& row, double share, int outputs, double warmth, const Logit& logit) {
  derivative_.resize(to_size(outputs));
  if (loss_ == Loss::numbers) {
    const double error = logit(0, 0) - static_cast<double>(row.target);
    derivative_[0] = error;
    return share * 0.5 * error * error;
  }
  if (outputs == 1) {
    const double u = warmth * logit(0, 0) * (row.label == 1 ? 1 : -1);
    derivative_[0] = warmth * (row.label == 1 ? -1 : 1) / (1 + std::exp(u));
    return share * (u > 0 ? std::log1p(std::exp(-u)) : std::log1p(std::exp(u)) - u);
  }
  for (int c = 0; c < outputs; ++c) derivative_[to_size(c)] = warmth * logit(0, c);
  const double log_sum = softmax(derivative_);
  for (int c = 0; c < outputs; ++c)
    derivative_[to_size(c)] = warmth * (derivative_[to_size(c)] - (c == row.label ? 1 : 0));
  return share * (log_sum - warmth * logit(0, row.label));
}

template class OuterLoss<float>;
template class OuterLoss<double>;

}  // namespace obolus::fit
