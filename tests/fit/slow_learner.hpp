// The learner of src/fit/learner.hpp, slowly: dense weights, dense derivatives, every step on all of them.
// Derivatives come from dual numbers, so that no formula of the learner's is repeated here. It shares rows, options
// and the replay's random numbers with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fit/learner/learner.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::test {

// value + d ε, ε² = 0.
struct Dual {
  double value = 0, d = 0;
  Dual(double v = 0, double along = 0) : value(v), d(along) {}  // NOLINT(google-explicit-constructor)
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.d + b.d}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.d - b.d}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.d * b.value + a.value * b.d}; }
inline Dual operator/(Dual a, Dual b) { return {a.value / b.value, (a.d - a.value / b.value * b.d) / b.value}; }
inline Dual exp(Dual a) { return {std::exp(a.value), a.d * std::exp(a.value)}; }
inline Dual log(Dual a) { return {std::log(a.value), a.d / a.value}; }

class SlowLearner {
 public:
  using Matrix = std::vector<std::vector<double>>;  // features and the constant × outputs

  SlowLearner(const fit::LearnerOptions& o, const fit::Hyperparameters& start, int classes, std::vector<int> group_of,
              std::uint64_t seed)
      : o_(o),
        hyper_(start.list),
        adam_(start.adam),
        rng_(seed),
        group_of_(std::move(group_of)),
        squares_(group_of_.size()) {
    outputs_ = o.loss == fit::Loss::numbers || (classes == 2 && !o.softmax) ? 1 : to_size(classes);
    z_ = zeros();
    s_.assign(hyper_.size(), zeros());
    mean_.assign(hyper_.size(), 0);
    square_ = slope = mean_;
    judged_.assign(to_size(classes), 0);
    feature_.resize(group_of_.size());
  }

  void add(const fit::LearnerRow& row) {
    for (const fit::Entry& e : row.entries)
      squares_[to_size(e.slot)] += static_cast<double>(e.value) * static_cast<double>(e.value);
    ++seen_;
    pending_.push_back(row);
  }

  void train() {
    ++round_;
    std::vector<fit::LearnerRow> outer, inner;
    for (const fit::LearnerRow& r : pending_) {
      if (r.role != fit::Role::inner) outer.push_back(r);
      if (r.role != fit::Role::outer) inner.push_back(r);
    }
    if (!outer.empty()) judge(outer);
    if (o_.first_order) move_penalties();
    if (!inner.empty()) train_on(inner);
    for (const fit::LearnerRow& r : inner) {  // the latest rows, each in the place of the one that is too old
      if (static_cast<std::int64_t>(buffer_.size()) < o_.buffer) buffer_.push_back(r);
      else if (o_.buffer > 0) buffer_[to_size(kept_ % o_.buffer)] = r;
      ++kept_;
    }
    pending_.clear();
  }

  [[nodiscard]] const Matrix& z() const { return z_; }
  [[nodiscard]] const Matrix& s(std::size_t hyperparameter) const { return s_[hyperparameter]; }
  [[nodiscard]] double place(std::size_t i) const { return hyper_[i].place; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  [[nodiscard]] double ratio(std::size_t feature) const { return std::exp(feature_[feature].place); }

  double outer_loss = 0, curvature = 0;
  std::vector<double> slope;     // by hyperparameter
  int limited = 0, guarded = 0;  // how often the limit decided on the rate, and derivatives were cut back

 private:
  using Duals = std::vector<std::vector<Dual>>;
  using Kind = fit::Tunable;

  [[nodiscard]] Matrix zeros() const { return Matrix(group_of_.size() + 1, std::vector<double>(outputs_)); }
  [[nodiscard]] static bool shapes_training(const fit::Hyperparameter& h) {
    return h.tuned && h.kind != Kind::temperature;
  }

  // What is kept of s_j from round to round.
  [[nodiscard]] double memory(std::size_t j) const {
    const Kind kind = j < hyper_.size() ? hyper_[j].kind : Kind::rate;
    return kind == Kind::l2 ? o_.l2_memory : kind == Kind::replay ? o_.replay_memory : o_.memory;
  }

  // Of kind and index, moving with hyperparameter j.
  [[nodiscard]] Dual hyper(Kind kind, int index, double otherwise, std::size_t j) const {
    for (std::size_t i = 0; i < hyper_.size(); ++i)
      if (hyper_[i].kind == kind && hyper_[i].index == index) {
        const Dual place{hyper_[i].place, i == j ? 1.0 : 0.0};
        return kind == Kind::shift ? place : exp(place);
      }
    return otherwise;
  }

  [[nodiscard]] std::vector<double> dense(const fit::LearnerRow& row) const {
    std::vector<double> x(group_of_.size() + 1);
    for (const fit::Entry& e : row.entries) x[to_size(e.slot)] += static_cast<double>(e.value);
    x.back() = 1;
    return x;
  }

  template <class N>
  [[nodiscard]] std::vector<N> logits(const std::vector<double>& x, const std::vector<std::vector<N>>& z) const {
    std::vector<N> l(outputs_);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t c = 0; c < outputs_; ++c) l[c] = l[c] + N(x[i]) * z[i][c];
    return l;
  }

  // The definitions, for any size of logits that exp can take.
  [[nodiscard]] Dual loss(const std::vector<Dual>& l, const fit::LearnerRow& row) const {
    if (o_.loss == fit::Loss::numbers) return Dual(0.5) * (l[0] - Dual(row.target)) * (l[0] - Dual(row.target));
    if (outputs_ == 1) return log(Dual(1) + exp(row.label == 1 ? Dual(0) - l[0] : l[0]));
    Dual others;  // over the truth's: where they are next to nothing, so is the slope, and not nothing
    for (std::size_t c = 0; c < l.size(); ++c)
      if (c != to_size(row.label)) others = others + exp(l[c] - l[to_size(row.label)]);
    return log(Dual(1) + others);
  }
  // ∂loss/∂logit c, where logits are scaled and shifted first.
  [[nodiscard]] std::vector<Dual> residual(const std::vector<Dual>& l, const fit::LearnerRow& row,
                                           std::size_t j) const {
    if (o_.loss == fit::Loss::numbers) return {l[0] - Dual(row.target)};
    if (outputs_ == 1) return {Dual(1) / (Dual(1) + exp(Dual(0) - l[0])) - Dual(row.label)};
    std::vector<Dual> p(outputs_), scale(outputs_);
    Dual sum;
    for (std::size_t c = 0; c < outputs_; ++c) {
      scale[c] = hyper(Kind::scale, static_cast<int>(c), 1.0, j);
      sum = sum + (p[c] = exp(scale[c] * l[c] + hyper(Kind::shift, static_cast<int>(c), 0.0, j)));
    }
    for (std::size_t c = 0; c < outputs_; ++c) p[c] = scale[c] * (p[c] / sum - Dual(c == to_size(row.label) ? 1 : 0));
    return p;
  }

  void judge(const std::vector<fit::LearnerRow>& rows) {
    std::vector<double> share;
    double all = 0;
    for (const fit::LearnerRow& r : rows) {
      double w = static_cast<double>(r.weight);
      if (o_.loss == fit::Loss::classes) {
        judged_[to_size(r.label)] += w;
        if (o_.balanced) w /= judged_[to_size(r.label)];
      }
      share.push_back(w);
      all += w;
    }
    for (std::size_t j = 0; j < hyper_.size(); ++j) {
      Duals z(z_.size(), std::vector<Dual>(outputs_));
      for (std::size_t i = 0; i < z.size(); ++i)
        for (std::size_t c = 0; c < outputs_; ++c) z[i][c] = {z_[i][c], s_[j][i][c]};
      const Dual temperature = hyper(Kind::temperature, 0, 1.0, j);
      Dual f;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        std::vector<Dual> l = logits(dense(rows[r]), z);
        for (Dual& of : l) of = of / temperature;
        f = f + Dual(share[r] / all) * loss(l, rows[r]);
      }
      outer_loss = f.value;
      slope[j] = hyper_[j].tuned ? f.d : 0;
    }
    for (std::size_t i = 0; o_.first_order && i < feature_.size(); ++i) {
      // −<z_i, ∇_i f>: f along −z_i.
      Duals z(z_.size(), std::vector<Dual>(outputs_));
      for (std::size_t k = 0; k < z.size(); ++k)
        for (std::size_t c = 0; c < outputs_; ++c) z[k][c] = {z_[k][c], k == i ? -z_[k][c] : 0};
      const Dual temperature = hyper(Kind::temperature, 0, 1.0, hyper_.size());
      Dual f;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        std::vector<Dual> l = logits(dense(rows[r]), z);
        for (Dual& of : l) of = of / temperature;
        f = f + Dual(share[r] / all) * loss(l, rows[r]);
      }
      feature_[i].slope = f.d;
    }
    adam();
  }

  struct Feature {
    double place = 0, slope = 0, mean = 0, square = 0;
    int moves = 0;
  };

  // Down the slopes of the rows judged last, if there are any; each feature counts the rounds it moved in.
  void move_penalties() {
    const fit::FeatureAdamOptions& p = *o_.first_order;
    for (Feature& f : feature_) {
      if (f.slope == 0) continue;
      ++f.moves;
      f.mean += (1 - p.decay) * (f.slope - f.mean);
      f.square += (1 - p.decay2) * (f.slope * f.slope - f.square);
      const double m = f.mean / (1 - std::pow(p.decay, f.moves)), v = f.square / (1 - std::pow(p.decay2, f.moves));
      const auto t = static_cast<double>(round_);
      const double length = t / (t + p.halfway) * (p.later + (p.first - p.later) / (1 + f.moves / p.halfway));
      f.place = std::clamp((1 - p.shrinkage) * f.place - length * p.step * m / std::sqrt(v), -p.max_log_ratio,
                           p.max_log_ratio);
      f.slope = 0;
    }
  }

  void adam() {
    ++taken_;
    const double length = adam_.later + (adam_.first - adam_.later) / (1 + static_cast<double>(taken_) / adam_.halfway);
    for (std::size_t j = 0; j < hyper_.size(); ++j) {
      if (!hyper_[j].tuned) continue;
      mean_[j] += (1 - adam_.decay) * (slope[j] - mean_[j]);
      square_[j] += (1 - adam_.decay2) * (slope[j] * slope[j] - square_[j]);
      const double m = mean_[j] / (1 - std::pow(adam_.decay, taken_)),
                   v = square_[j] / (1 - std::pow(adam_.decay2, taken_));
      hyper_[j].place = std::clamp(hyper_[j].place - length * hyper_[j].step * m / (std::sqrt(v) + adam_.epsilon),
                                   hyper_[j].low, hyper_[j].high);
    }
  }

  struct Work {  // a round's rows
    std::vector<fit::LearnerRow> rows;
    std::vector<std::vector<double>> x;
    std::vector<double> weight, scale;  // of rows without that of replay; P
    std::size_t fresh = 0;
    double rate = 0;
    bool free = true;
  };

  void train_on(const std::vector<fit::LearnerRow>& fresh) {
    Work w;
    w.rows = fresh;
    w.fresh = fresh.size();
    Rng rng = rng_.child("replay", static_cast<std::uint64_t>(round_));
    for (std::int64_t i = 0; i < o_.replay && !buffer_.empty(); ++i)
      w.rows.push_back(buffer_[rng.below(buffer_.size())]);
    double all = 0;
    for (const fit::LearnerRow& r : w.rows) {
      w.x.push_back(dense(r));
      all += static_cast<double>(r.weight);
    }
    for (const fit::LearnerRow& r : w.rows) w.weight.push_back(static_cast<double>(r.weight) / all);
    for (const double sum : squares_)
      w.scale.push_back(sum > 0 ? std::pow(sum / static_cast<double>(seen_), -o_.power) : 0);
    w.scale.push_back(1);

    const double now = bound(w), part = 1 / std::min(static_cast<double>(round_), 100.0);
    curvature = (1 - part) * curvature + part * now;
    w.rate = hyper(Kind::rate, 0, 1.0, hyper_.size()).value;
    if (o_.decayed) w.rate /= std::sqrt(1 + static_cast<double>(round_) / 100);
    if (w.rate * now > o_.limit * curvature) {
      w.rate = o_.limit * curvature / now;
      w.free = false;
      ++limited;
    }

    Matrix after = steps(w, hyper_.size(), zeros());
    for (std::size_t j = 0; j < hyper_.size(); ++j)
      if (shapes_training(hyper_[j])) steps(w, j, s_[j]);
    z_ = std::move(after);
  }

  // Of the curvature in the coordinates P^−½ z: the largest row sum of |G| weighted, times the largest curvature of a
  // loss.
  [[nodiscard]] double bound(const Work& w) const {
    double max = 0;
    for (const auto& a : w.x) {
      double sum = 0;
      for (std::size_t k = 0; k < w.x.size(); ++k) {
        double g = 0;
        for (std::size_t i = 0; i < a.size(); ++i) g += a[i] * w.scale[i] * w.x[k][i];
        sum += std::abs(g) * w.weight[k];
      }
      max = std::max(max, sum);
    }
    return max * (o_.loss == fit::Loss::numbers ? 1.0 : outputs_ == 1 ? 0.25 : 0.5);
  }

  // Decay and K steps from z_ along `s`, which takes the derivative by hyperparameter j after them; gives the weights
  // after them.
  Matrix steps(const Work& w, std::size_t j, Matrix&& unused) { return steps(w, j, unused); }
  Matrix steps(const Work& w, std::size_t j, Matrix& s) {
    const bool moves = w.free && j < hyper_.size() && hyper_[j].kind == Kind::rate;
    const Dual rate{w.rate, moves ? w.rate : 0.0};
    Duals z(z_.size(), std::vector<Dual>(outputs_));
    for (std::size_t i = 0; i < z.size(); ++i) {
      Dual rho = 1;  // the constant does not decay
      if (i + 1 < z.size() && !o_.first_order)
        rho = exp(Dual(-static_cast<double>(o_.steps)) * rate * hyper(Kind::l2, group_of_[i], 0.0, j));
      for (std::size_t c = 0; c < outputs_; ++c) {
        z[i][c] = rho * Dual(z_[i][c], s[i][c]);
        z[i][c].d *= memory(j);
      }
    }
    guard(w, z);
    const Dual replay = hyper(Kind::replay, 0, 1.0, j);
    for (std::int64_t k = 0; k < o_.steps; ++k) {
      Duals gradient(z.size(), std::vector<Dual>(outputs_));
      for (std::size_t r = 0; r < w.rows.size(); ++r) {
        const std::vector<Dual> e = residual(logits(w.x[r], z), w.rows[r], j);
        const Dual weight = Dual(w.weight[r]) * (r < w.fresh ? Dual(1) : replay);
        for (std::size_t i = 0; i < z.size(); ++i)
          for (std::size_t c = 0; c < outputs_; ++c) gradient[i][c] = gradient[i][c] + weight * Dual(w.x[r][i]) * e[c];
      }
      for (std::size_t i = 0; i < z.size(); ++i)
        for (std::size_t c = 0; c < outputs_; ++c)
          z[i][c] = z[i][c] - rate / Dual(curvature) * Dual(w.scale[i]) * gradient[i][c];
    }
    if (o_.first_order) decay_features(w, j, z);
    Matrix values = zeros();
    for (std::size_t i = 0; i < z.size(); ++i)
      for (std::size_t c = 0; c < outputs_; ++c) {
        values[i][c] = z[i][c].value;
        s[i][c] = z[i][c].d;
      }
    return values;
  }

  // The decay moves with the learning rate also where the limit decides on that, by definition.
  void decay_features(const Work& w, std::size_t j, Duals& z) const {
    const bool moves = j < hyper_.size() && hyper_[j].kind == Kind::rate;
    const Dual rate{w.rate, moves ? w.rate : 0.0};
    for (std::size_t i = 0; i < feature_.size(); ++i) {
      const Dual rho =
          exp(Dual(-static_cast<double>(o_.steps) * ratio(i)) * rate * hyper(Kind::l2, group_of_[i], 0.0, j));
      for (Dual& n : z[i]) n = rho * n;
    }
  }

  // Derivatives of the batch's logits are at most so many times as large as these, root mean square, or all of s is
  // cut back.
  void guard(const Work& w, Duals& z) {
    double values = 0, along = 0, targets = 0;
    for (std::size_t r = 0; r < w.rows.size(); ++r) {
      for (const Dual& l : logits(w.x[r], z)) {
        values += l.value * l.value;
        along += l.d * l.d;
      }
      targets += static_cast<double>(w.rows[r].target) * static_cast<double>(w.rows[r].target);
    }
    const auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(w.rows.size())); };
    const double size = root(values) + (o_.loss == fit::Loss::numbers ? root(targets) : 1.0);
    if (!(root(along) > o_.max_derivative * size)) return;
    ++guarded;
    const double factor = o_.max_derivative * size / root(along);
    for (auto& of : z)
      for (Dual& n : of) n.d *= factor;
  }

  fit::LearnerOptions o_;
  std::vector<fit::Hyperparameter> hyper_;
  fit::AdamOptions adam_;
  Rng rng_;
  std::vector<int> group_of_;
  std::size_t outputs_ = 1;
  Matrix z_;
  std::vector<Matrix> s_;  // by hyperparameter
  std::vector<double> squares_, mean_, square_, judged_;
  std::vector<fit::LearnerRow> pending_, buffer_;
  std::vector<Feature> feature_;
  std::int64_t round_ = 0, taken_ = 0, kept_ = 0, seen_ = 0;
};

}  // namespace obolus::test
