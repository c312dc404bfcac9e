#include "fit/learner/outer_loss.hpp"

#include <algorithm>

#include "fit/model/softmax.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
bool OuterLoss<S>::measure(const RoundBatch<S>& batch, const Weights<S>& weights, const Hyperparameters& hyper,
                           double offset, bool residuals) {
  offset_ = offset;
  std::ranges::fill(slope_, 0.0);
  std::ranges::fill(pull_, 0.0);
  std::ranges::fill(information_, 0.0);
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

// With J_j the derivatives of the row's logits by hyperparameter j, divided by the temperature, and p its
// probabilities: slope J_j'(p − class), information J_j'(diag p − p p')J_k.
template <class S>
void OuterLoss<S>::add_row(const RoundBatch<S>& batch, int r, double share, const Weights<S>& weights,
                           const Hyperparameters& hyper) {
  const int outputs = weights.outputs();
  const auto logit = [&](int part, int c) {
    return static_cast<double>(batch.logits[to_size((part * outputs + c) * batch.stride + r)]);
  };
  const double warmth = 1 / hyper.value(Tunable::temperature, 1.0);
  value_ += share * row_loss(*batch.rows[to_size(r)], outputs, warmth, logit);
  double unit = warmth * warmth, far = 1;
  if (loss_ == Loss::numbers) {
    const double error = derivative_[0];
    see_error(error);
    unit = mean_square_ > 0 ? 1 / mean_square_ : 0.0;
    far = std::min(1.0, 3 * std::sqrt(mean_square_) / std::abs(error)) * unit;
    if (error == 0) far = 0;
  }
  const std::size_t n = hyper.list.size(), width = to_size(outputs);
  along_.assign(n * width, 0.0);
  mean_.assign(n, 0.0);
  int part = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const Hyperparameter& h = hyper.list[j];
    if (h.has_part()) ++part;
    if (!h.tuned) continue;
    const bool direct = h.kind == Tunable::temperature;  // d(logit/T)/dln T = −logit/T
    double slope = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double a = (direct ? -1 : 1) * logit(direct ? 0 : part, static_cast<int>(c));
      along_[j * width + c] = a;
      slope += derivative_[c] * a;
      mean_[j] += curvature_[c] * a;
    }
    slope_[j] += share * slope;
    pull_[j] += share * far * slope;
    for (std::size_t k = 0; k <= j; ++k) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += curvature_[c] * along_[j * width + c] * along_[k * width + c];
      if (outputs > 1) sum -= mean_[j] * mean_[k];
      information_[j * n + k] += share * unit * sum;
      if (k != j) information_[k * n + j] += share * unit * sum;
    }
  }
}

// The mean of some thousand rows, which one row raises by a tenth at most.
template <class S>
void OuterLoss<S>::see_error(double error) {
  constexpr double rows = 1000, few = 10;
  measured_ += 1;
  double square = error * error;
  if (!std::isfinite(square)) return;
  if (measured_ > few && mean_square_ > 0) square = std::min(square, 100 * mean_square_);
  mean_square_ += (square - mean_square_) / std::min(measured_, rows);
}

template <class S>
template <class Logit>
double OuterLoss<S>::row_loss(const LearnerRow& row, int outputs, double warmth, const Logit& logit) {
  derivative_.resize(to_size(outputs));
  curvature_.resize(to_size(outputs));
  if (loss_ == Loss::numbers) {
    const double error = logit(0, 0) + offset_ - static_cast<double>(row.target);
    derivative_[0] = error;
    curvature_[0] = 1;
    return 0.5 * error * error;
  }
  if (outputs == 1) {
    const double u = warmth * logit(0, 0) * (row.label == 1 ? 1 : -1), wrong = 1 / (1 + std::exp(u));
    derivative_[0] = warmth * (row.label == 1 ? -1 : 1) * wrong;
    curvature_[0] = wrong * (1 - wrong);
    return u > 0 ? std::log1p(std::exp(-u)) : std::log1p(std::exp(u)) - u;
  }
  for (int c = 0; c < outputs; ++c) curvature_[to_size(c)] = warmth * logit(0, c);
  const double log_sum = softmax(curvature_);
  for (int c = 0; c < outputs; ++c)
    derivative_[to_size(c)] = warmth * (curvature_[to_size(c)] - (c == row.label ? 1 : 0));
  return log_sum - warmth * logit(0, row.label);
}

template class OuterLoss<float>;
template class OuterLoss<double>;

}  // namespace obolus::fit
