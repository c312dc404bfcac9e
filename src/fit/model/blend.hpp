// Numbers are predicted by a weighted mean of three: the model's number, the last label that is known, and the mean of
// all labels. With p, l and m these, prediction p + u (l − p) + v (m − p), where (u, v) in the triangle u, v ≥ 0,
// u + v ≤ 1 minimises
//     Σ_s λ^(t−s) w_s (y_s − p_s − u (l_s − p_s) − v (m_s − p_s))² + κ (u² + v²),
// κ the variance of the labels: it starts as the model alone, and stays between the three whatever they are. Where
// neighbouring labels are alike the last one is hard to beat by columns, and where columns say nothing the mean is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"

namespace obolus::fit {

class Blend {
 public:
  // What was at hand when a row was predicted.
  struct Guess {
    double model = 0, last = 0, mean = 0;
    bool known = false;  // some label was
    void fields(Archive& a) {
      a("model", model);
      a("last", last);
      a("mean", mean);
      a("known", known);
    }
  };
  struct Shares {
    double last = 0, mean = 0;
  };

  [[nodiscard]] Guess guess(double model) const { return {model, last_, mean_, count_ > 0}; }

  // A saved model's rows need not be the stream's next: they are predicted without the last label.
  [[nodiscard]] Shares shares() const {
    if (count_ == 0) return {};
    if (follows_) return shares_;
    const double others = 1 - shares_.last;
    return {0, others > 0 ? shares_.mean / others : 0};
  }
  [[nodiscard]] double number(const Guess& g) const {
    const auto [last, mean] = shares();
    return last + mean > 0 ? (1 - last - mean) * g.model + last * g.last + mean * g.mean : g.model;
  }

  // The label of a row that was predicted with `g`.
  void see(const Guess& g, double label, double weight) {
    if (!(weight > 0)) return;
    if (g.known && std::isfinite(g.model)) {
      const double last = g.last - g.model, mean = g.mean - g.model, error = label - g.model;
      add(last_last_, weight * last * last);
      add(last_mean_, weight * last * mean);
      add(mean_mean_, weight * mean * mean);
      add(last_error_, weight * last * error);
      add(mean_error_, weight * mean * error);
    }
    ++count_;
    last_ = label;
    follows_ = true;
    const double before = label - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (label - mean_);
    solve();
  }

  void fields(Archive& a) {
    model_fields(a);
    a("last", last_);
    a("last_last", last_last_);
    a("last_mean", last_mean_);
    a("mean_mean", mean_mean_);
    a("last_error", last_error_);
    a("mean_error", mean_error_);
    a("squares", squares_);
    if (!a.loading()) return;
    follows_ = count_ > 0;
    for (const double x : {last_, last_last_, last_mean_, mean_mean_, last_error_, mean_error_, squares_})
      if (!std::isfinite(x)) throw DataError("saved state: a sum over the labels is not finite");
  }
  void model_fields(Archive& a) {
    a("labels", count_);
    a("mean", mean_);
    a("share_last", shares_.last);
    a("share_mean", shares_.mean);
    if (!a.loading()) return;
    follows_ = false;
    const bool sound = count_ >= 0 && count_ < std::int64_t{1} << 53 && std::isfinite(mean_) && shares_.last >= 0 &&
                       shares_.mean >= 0 && shares_.last + shares_.mean <= 1 + 1e-9;
    if (!sound) throw DataError("saved state: the shares of the last label and of the mean do not fit together");
  }

 private:
  static constexpr double memory = 0.999;  // of rows; anything from 0.998 to 1 does as well
  static void add(double& sum, double value) { sum = memory * sum + value; }

  [[nodiscard]] double cost(Shares s) const {
    return 0.5 * (a_ * s.last * s.last + c_ * s.mean * s.mean) + last_mean_ * s.last * s.mean - last_error_ * s.last -
           mean_error_ * s.mean;
  }

  // Inside the triangle, or else on the best of its sides.
  void solve() {
    const double ridge = squares_ / static_cast<double>(count_);
    a_ = last_last_ + ridge;
    c_ = mean_mean_ + ridge;
    if (!(a_ > 0 && c_ > 0)) return;
    const double determinant = a_ * c_ - last_mean_ * last_mean_;
    const Shares inside{(last_error_ * c_ - mean_error_ * last_mean_) / determinant,
                        (mean_error_ * a_ - last_error_ * last_mean_) / determinant};
    if (determinant > 0 && inside.last >= 0 && inside.mean >= 0 && inside.last + inside.mean <= 1) {
      shares_ = inside;
      return;
    }
    const auto unit = [](double x) { return x > 0 ? std::min(x, 1.0) : 0.0; };
    const double along = a_ - 2 * last_mean_ + c_;
    const double at = along > 0 ? unit((last_error_ - mean_error_ - last_mean_ + c_) / along) : 0.0;
    shares_ = std::min({Shares{unit(last_error_ / a_), 0}, Shares{0, unit(mean_error_ / c_)}, Shares{at, 1 - at}},
                       [this](const Shares& x, const Shares& y) { return cost(x) < cost(y); });
  }

  std::int64_t count_ = 0;
  double last_ = 0, mean_ = 0, squares_ = 0;  // of the labels; squares of their distances from the mean
  double last_last_ = 0, last_mean_ = 0, mean_mean_ = 0, last_error_ = 0, mean_error_ = 0;
  double a_ = 0, c_ = 0;  // scratch: the diagonal, ridge and all
  Shares shares_;
  bool follows_ = false;  // the last label is the stream's
};

}  // namespace obolus::fit
