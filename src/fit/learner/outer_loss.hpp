// f of a round: the mean loss of its outer rows at the weights before they are trained on them, and its slopes by the
// hyperparameters.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/learner/round_batch.hpp"
#include "fit/model/hyperparameters.hpp"
#include "fit/model/weights.hpp"
#include "obolus/core/archive.hpp"

namespace obolus::fit {

enum class Loss : std::uint8_t { classes, numbers };

template <class S>
class OuterLoss {
 public:
  // `balanced`: classes count alike, however rare they are.
  OuterLoss(Loss loss, bool balanced) : loss_(loss), balanced_(balanced) {}

  void grow_classes(int classes) { class_weight_.resize(to_size(classes)); }
  void set_hyperparameters(std::size_t count) {
    slope_.resize(count);
    pull_.resize(count);
    information_.resize(count * count);
  }

  // Of the batch's rows, whose logits are set. False: they weigh nothing, f is 0 and there are no slopes.
  // `offset`: what numbers are more than their logits.
  bool measure(const RoundBatch<S>& batch, const Weights<S>& weights, const Hyperparameters& hyper, double offset,
               bool residuals);

  [[nodiscard]] double value() const { return value_; }
  void set_diverged() { value_ = std::nan(""); }
  [[nodiscard]] const std::vector<double>& slope() const { return slope_; }  // by hyperparameter
  // For the filter: slopes and the mean Gauss–Newton information of the rows, by pairs of hyperparameters. For numbers,
  // in units of the mean squared error, with errors of at most three of its roots: a few rows that are far off must
  // not decide.
  [[nodiscard]] const std::vector<double>& pull() const { return pull_; }
  [[nodiscard]] const std::vector<double>& information() const { return information_; }
  // ∂f/∂logits, product_width() numbers per row, if they were wanted.
  [[nodiscard]] std::span<const S> residuals() const { return residual_; }

  void value_fields(Archive& a) {
    a("outer_loss", value_);
    a("mean_square", mean_square_);
    a("measured", measured_);
  }
  void class_fields(Archive& a) { saved(a, "class_weight", class_weight_); }
  [[nodiscard]] std::size_t classes() const { return class_weight_.size(); }

 private:
  void add_row(const RoundBatch<S>& batch, int r, double share, const Weights<S>& weights,
               const Hyperparameters& hyper);
  // The row's loss; ∂loss/∂logit into derivative_, and into curvature_ what ∂²loss/∂logit² is made of: probabilities.
  void see_error(double error);
  template <class Logit>
  double row_loss(const LearnerRow& row, int outputs, double warmth, const Logit& logit);

  Loss loss_;
  bool balanced_;
  double value_ = 0, offset_ = 0;
  std::vector<double> slope_;
  std::vector<double> class_weight_;  // rows measured of each class
  typename RoundBatch<S>::Numbers residual_;
  std::vector<double> pull_, information_;
  double mean_square_ = 0, measured_ = 0;                              // of the errors; rows
  std::vector<double> share_, derivative_, curvature_, along_, mean_;  // scratch
};

extern template class OuterLoss<float>;
extern template class OuterLoss<double>;

}  // namespace obolus::fit
