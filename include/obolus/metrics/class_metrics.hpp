// Prequential metrics of a classifier, as folds: rows come one by one, classes may appear at any time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/metrics/compensated_sum.hpp"
#include "obolus/metrics/sliding_window.hpp"

namespace obolus {

// A row after it was judged.
struct JudgedClass {
  static constexpr Index numbers = 5;
  // −ln p ≤ −ln 1e-15 = 34.54: a probability of 0 costs that much, not infinity.
  static constexpr double min_probability = 1e-15;
  static constexpr std::int32_t no_class = -1;  // predicted by a model that knows no class yet: always wrong

  std::int32_t truth = 0;
  std::int32_t predicted = no_class;
  double log_loss = 0.0;
  double weight = 1.0;
  double confidence = std::numeric_limits<double>::quiet_NaN();  // the probability of the predicted class; NaN: unknown

  // From the probability that the model gave the truth.
  static JudgedClass of(std::int32_t truth, std::int32_t predicted, double probability_of_truth, double weight = 1.0) {
    return {truth, predicted, -std::log(std::clamp(probability_of_truth, min_probability, 1.0)), weight};
  }
  // From the probabilities of classes 0, 1, …; the first of the largest is predicted, later classes have 0.
  template <class S>
  static JudgedClass of(std::int32_t truth, std::span<const S> probabilities, double weight = 1.0) {
    const auto best = std::ranges::max_element(probabilities);
    const bool known = truth >= 0 && to_size(truth) < probabilities.size();
    auto row = of(truth, probabilities.empty() ? no_class : static_cast<std::int32_t>(best - probabilities.begin()),
                  known ? static_cast<double>(probabilities[to_size(truth)]) : 0.0, weight);
    if (!probabilities.empty()) row.confidence = static_cast<double>(*best);
    return row;
  }

  [[nodiscard]] std::array<double, 5> packed() const {
    return {static_cast<double>(truth), static_cast<double>(predicted), log_loss, weight, confidence};
  }
  static JudgedClass unpacked(std::span<const double, 5> n) {
    return {static_cast<std::int32_t>(n[0]), static_cast<std::int32_t>(n[1]), n[2], n[3], n[4]};
  }
};

// Weighted sums over rows; memory is O(classes). With t_k, p_k, c_k the weights of class k as truth, as prediction, as
// both, W = Σ t_k, and means of nothing NaN:
//     log-loss  Σ w·min(−ln p, 34.54)/W       accuracy  Σ c_k/W
//     balanced accuracy  mean of c_k/t_k over the classes with t_k > 0
//     macro F1           mean of 2c_k/(t_k + p_k) over the classes with t_k + p_k > 0
//     kappa              (a − e)/(1 − e), a the accuracy, e = Σ t_k p_k/W²; 0 where e = 1
class ClassMetrics {
 public:
  using Row = JudgedClass;
  static constexpr std::int32_t max_classes = 1 << 24;

  void add(const Row& row) { change(row, 1.0); }
  // Undoes an add() of the same row.
  void remove(const Row& row) { change(row, -1.0); }
  void clear() { *this = {}; }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] double weight() const { return weight_.value(); }
  [[nodiscard]] std::size_t classes() const { return classes_.size(); }  // one more than the largest class number seen
  [[nodiscard]] double log_loss() const { return ratio(log_loss_.value(), weight_.value()); }
  [[nodiscard]] double accuracy() const { return ratio(correct_.value(), weight_.value()); }

  [[nodiscard]] double balanced_accuracy() const {
    return mean_over_classes([](const OfClass& k) { return ratio(k.correct(), k.truth()); });
  }
  [[nodiscard]] double macro_f1() const {
    return mean_over_classes([](const OfClass& k) { return ratio(2.0 * k.correct(), k.truth() + k.predicted()); });
  }
  // As 1 − (1 − a)/(1 − e) with 1 − e = Σ_k t_k (W − p_k)/W², W − p_k of the class most predicted being summed from the
  // others: nothing cancels, even where one class has nearly all the weight.
  [[nodiscard]] double kappa() const {
    if (!(weight() > 0.0)) return accuracy();
    const auto max = std::ranges::max_element(classes_, {}, &OfClass::predicted);
    double disagreement = 0.0;
    for (auto k = classes_.begin(); k != classes_.end(); ++k) {
      double others = weight() - k->predicted();
      if (k == max) {
        others = unpredicted_.value();
        for (auto j = classes_.begin(); j != classes_.end(); ++j)
          if (j != k) others += j->predicted();
      }
      disagreement += k->truth() / weight() * (others / weight());
    }
    return disagreement > 0.0 ? 1.0 - wrong_.value() / weight() / disagreement : 0.0;
  }

  void fields(Archive& a) {
    auto count = static_cast<std::int64_t>(classes_.size());
    a("rows", rows_);
    a("weight", weight_);
    a("log_loss", log_loss_);
    a("correct", correct_);
    a("wrong", wrong_);
    a("unpredicted", unpredicted_);
    a("classes", count);
    if (count < 0 || count > max_classes)
      throw DataError("saved state: got " + std::to_string(count) + " classes, expected at most 2^24");
    classes_.resize(to_size(count));
    for (OfClass& k : classes_) k.fields(a);
  }

 private:
  // A sum of weights above 0 that is exactly 0 where no row is left.
  struct Weight {
    std::int64_t rows = 0;
    CompensatedSum sum;
    void change(double weight, double sign) {
      rows += sign > 0 ? 1 : -1;
      if (rows == 0) sum = {};
      else sum.add(sign * weight);
    }
    [[nodiscard]] double value() const { return sum.value(); }
    void fields(Archive& a) {
      a("rows", rows);
      a("sum", sum);
    }
  };
  struct OfClass {
    Weight as_truth, as_prediction, as_both;
    [[nodiscard]] double truth() const { return as_truth.value(); }
    [[nodiscard]] double predicted() const { return as_prediction.value(); }
    [[nodiscard]] double correct() const { return as_both.value(); }
    void fields(Archive& a) {
      a("truth", as_truth);
      a("prediction", as_prediction);
      a("both", as_both);
    }
  };

  static double ratio(double a, double b) { return b > 0.0 ? a / b : std::numeric_limits<double>::quiet_NaN(); }

  // Over the classes where it is not NaN.
  template <class F>
  [[nodiscard]] double mean_over_classes(F&& f) const {
    double sum = 0.0, count = 0.0;
    for (const OfClass& k : classes_)
      if (const double value = f(k); !std::isnan(value)) {
        sum += value;
        count += 1.0;
      }
    return ratio(sum, count);
  }

  OfClass& of_class(std::int32_t number) {
    if (to_size(number) >= classes_.size()) classes_.resize(to_size(number) + 1);
    return classes_[to_size(number)];
  }

  void change(const Row& row, double sign) {
    require_sound(row);
    rows_ += sign > 0 ? 1 : -1;
    OfClass& truth = of_class(row.truth);
    if (row.weight == 0.0) return;
    weight_.change(row.weight, sign);
    truth.as_truth.change(row.weight, sign);
    if (row.predicted == row.truth) truth.as_both.change(row.weight, sign);
    (row.predicted == row.truth ? correct_ : wrong_).change(row.weight, sign);
    const bool none = row.predicted == Row::no_class;
    (none ? unpredicted_ : of_class(row.predicted).as_prediction).change(row.weight, sign);
    if (weight_.rows == 0) log_loss_ = {};
    else log_loss_.add(sign * row.weight * row.log_loss);
  }

  static void require_sound(const Row& row) {
    const auto fail = [](const char* what, double got, const char* expected) {
      throw DataError("metrics: " + std::string(what) + ": got " + std::to_string(got) + ", expected " + expected);
    };
    if (row.truth < 0 || row.truth >= max_classes) fail("true class", row.truth, "0, 1, …, below 2^24");
    if (row.predicted < Row::no_class || row.predicted >= max_classes)
      fail("predicted class", row.predicted, "-1 (none), 0, 1, …, below 2^24");
    if (!(row.weight >= 0.0) || !std::isfinite(row.weight)) fail("weight", row.weight, "a finite number ≥ 0");
    if (!std::isfinite(row.log_loss)) fail("log-loss", row.log_loss, "a finite number");
  }

  std::int64_t rows_ = 0;
  Weight weight_, correct_, wrong_, unpredicted_;
  CompensatedSum log_loss_;
  std::vector<OfClass> classes_;
};

using WindowedClassMetrics = SlidingWindow<ClassMetrics>;

}  // namespace obolus
