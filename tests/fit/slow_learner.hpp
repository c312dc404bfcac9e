// The learner of src/fit/learner/learner.hpp, slowly: dense weights, dense derivatives, every step on all of them.
// Derivatives come from dual numbers, so that no formula of the learner's is repeated here. It shares rows, options
// and the replay's random numbers with it.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
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
      : o_(o), hyper_(start.list), rng_(seed), group_of_(std::move(group_of)), squares_(group_of_.size()) {
    outputs_ = o.loss == fit::Loss::numbers || (classes == 2 && !o.softmax) ? 1 : to_size(classes);
    z_ = zeros();
    s_.assign(hyper_.size(), zeros());
    slope.assign(hyper_.size(), 0);
    of_class_.assign(to_size(classes), 0);
    feature_.resize(group_of_.size());
    covariance_ = Eigen::MatrixXd::Zero(size(hyper_), size(hyper_));
    for (std::size_t j = 0; j < hyper_.size(); ++j) covariance_(index(j), index(j)) = hyper_[j].prior;
  }

  void add(fit::LearnerRow row) {
    if (pending_.empty()) open();
    if (row.role != fit::Role::outer)
      for (fit::Entry& e : row.entries)
        if (const double max = max_[to_size(e.slot)]; max > 0 && std::abs(static_cast<double>(e.value)) > max) {
          e.value = static_cast<float>(e.value > 0 ? max : -max);
          ++cut;
        }
    if (row.role != fit::Role::inner) judge(row);
    if (row.role != fit::Role::outer) learn(row);
    pending_.push_back(row);
  }

  void train() {
    ++round_;
    if (!judged_.empty()) {
      measure();
      if (o_.first_order) move_penalties();
      filter();
    }
    close();
    for (const fit::LearnerRow& r : pending_) {
      for (const fit::Entry& e : r.entries)
        squares_[to_size(e.slot)] += static_cast<double>(e.value) * static_cast<double>(e.value);
      ++seen_;
      if (r.role == fit::Role::outer) continue;
      if (static_cast<std::int64_t>(buffer_.size()) < o_.buffer) buffer_.push_back(r);  // the latest rows, each in the
      else if (o_.buffer > 0) buffer_[to_size(kept_ % o_.buffer)] = r;  // place of the one that is too old
      ++kept_;
    }
    move_offset();
    pending_.clear();
    judged_.clear();
  }

  [[nodiscard]] const Matrix& z() const { return z_; }
  [[nodiscard]] const Matrix& s(std::size_t hyperparameter) const { return s_[hyperparameter]; }
  [[nodiscard]] double place(std::size_t i) const { return hyper_[i].place; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  [[nodiscard]] double ratio(std::size_t feature) const { return std::exp(feature_[feature].place); }

  double outer_loss = 0, curvature = 0;
  std::vector<double> slope;  // by hyperparameter
  // How often the limit decided on the rate, derivatives were cut back, and values were.
  int limited = 0, guarded = 0, cut = 0;

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
    if (o_.loss == fit::Loss::numbers) {
      const Dual error = l[0] + Dual(offset_) - Dual(row.target);
      return Dual(0.5) * error * error;
    }
    if (outputs_ == 1) return log(Dual(1) + exp(row.label == 1 ? Dual(0) - l[0] : l[0]));
    Dual others;  // over the truth's: where they are next to nothing, so is the slope, and not nothing
    for (std::size_t c = 0; c < l.size(); ++c)
      if (c != to_size(row.label)) others = others + exp(l[c] - l[to_size(row.label)]);
    return log(Dual(1) + others);
  }
  // ∂loss/∂logit c.
  [[nodiscard]] std::vector<Dual> plain_residual(const std::vector<Dual>& l, const fit::LearnerRow& row) const {
    if (outputs_ == 1) return residual(l, row, hyper_.size());
    std::vector<Dual> p(outputs_);
    Dual sum;
    for (std::size_t c = 0; c < outputs_; ++c) sum = sum + (p[c] = exp(l[c]));
    for (std::size_t c = 0; c < outputs_; ++c) p[c] = p[c] / sum - Dual(c == to_size(row.label) ? 1 : 0);
    return p;
  }
  // The same where logits are scaled and shifted first.
  [[nodiscard]] std::vector<Dual> residual(const std::vector<Dual>& l, const fit::LearnerRow& row,
                                           std::size_t j) const {
    if (o_.loss == fit::Loss::numbers) return {l[0] + Dual(offset_) - Dual(row.target)};
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

  // What a row told when it came, by hyperparameter.
  struct Judged {
    fit::LearnerRow row;
    double loss = 0, error = 0;
    std::vector<double> slope, residual;
    Eigen::MatrixXd information;
  };

  // Its logits over the temperature, moving with hyperparameter j.
  [[nodiscard]] std::vector<Dual> judged_logits(const fit::LearnerRow& row, std::size_t j) const {
    std::vector<Dual> l = logits(dense(row), duals(j));
    const Dual temperature = hyper(Kind::temperature, 0, 1.0, j);
    for (Dual& of : l) of = of / temperature;
    return l;
  }

  void judge(const fit::LearnerRow& row) {
    Judged now;
    now.row = row;
    const std::size_t n = hyper_.size();
    now.information = Eigen::MatrixXd::Zero(index(n), index(n));
    for (std::size_t j = 0; j < n; ++j) {
      const std::vector<Dual> l = judged_logits(row, j);
      const Dual f = loss(l, row);
      now.loss = f.value;
      now.error = l[0].value + offset_ - static_cast<double>(row.target);
      now.slope.push_back(hyper_[j].tuned ? f.d : 0);
      if (!hyper_[j].tuned) continue;
      const std::vector<Dual> e = plain_residual(l, row);  // its change along j is that of the loss's gradient
      for (std::size_t k = 0; k < n; ++k) {
        if (!hyper_[k].tuned) continue;
        const std::vector<Dual> other = judged_logits(row, k);
        for (std::size_t c = 0; c < outputs_; ++c) now.information(index(k), index(j)) += other[c].d * e[c].d;
      }
    }
    for (const Dual& e : plain_residual(judged_logits(row, n), row)) now.residual.push_back(e.value);
    judged_.push_back(std::move(now));
  }

  void measure() {
    double all = 0;
    share_.clear();
    for (const Judged& g : judged_) {
      double w = static_cast<double>(g.row.weight);
      if (o_.loss == fit::Loss::classes) {
        of_class_[to_size(g.row.label)] += w;
        if (o_.balanced) w /= of_class_[to_size(g.row.label)];
      }
      share_.push_back(w);
      all += w;
    }
    outer_loss = 0;
    std::ranges::fill(slope, 0.0);
    pull_.assign(slope.size(), 0.0);
    information_ = Eigen::MatrixXd::Zero(size(hyper_), size(hyper_));
    for (std::size_t r = 0; r < judged_.size(); ++r) {
      const Judged& g = judged_[r];
      share_[r] /= all;
      outer_loss += share_[r] * g.loss;
      double unit = 1, pull = 1;
      if (o_.loss == fit::Loss::numbers) {
        ++measured_;
        const double square = std::min(g.error * g.error, measured_ > 10 ? 100 * mean_square_ : HUGE_VAL);
        mean_square_ += (square - mean_square_) / std::min(static_cast<double>(measured_), 1000.0);
        unit = 1 / mean_square_;
        pull = std::clamp(g.error, -3 * std::sqrt(mean_square_), 3 * std::sqrt(mean_square_)) / g.error * unit;
      }
      for (std::size_t j = 0; j < slope.size(); ++j) {
        slope[j] += share_[r] * g.slope[j];
        pull_[j] += share_[r] * pull * g.slope[j];
      }
      information_ += share_[r] * unit * g.information;
    }
  }

  // Of what is tuned: P ← (P⁻¹ + n M)⁻¹ after P has grown, then a step along it.
  void filter() {
    std::vector<Eigen::Index> tuned;
    for (std::size_t j = 0; j < hyper_.size(); ++j)
      if (hyper_[j].tuned) tuned.push_back(index(j));
    Eigen::MatrixXd p = covariance_(tuned, tuned);
    const auto n = static_cast<double>(judged_.size());
    for (Eigen::Index a = 0; a < p.rows(); ++a)
      for (Eigen::Index b = 0; b < p.cols(); ++b) {
        const fit::Hyperparameter &one = hyper_[to_size(tuned[to_size(a)])], &two = hyper_[to_size(tuned[to_size(b)])];
        p(a, b) *= (1 - one.drift / 2 / one.prior) * (1 - two.drift / 2 / two.prior);
        if (a == b) p(a, b) += one.drift;
      }
    p = (p.inverse() + n * information_(tuned, tuned)).inverse().eval();
    covariance_(tuned, tuned) = p;
    for (Eigen::Index a = 0; a < p.rows(); ++a) {
      double move = 0;
      for (Eigen::Index b = 0; b < p.cols(); ++b) move += n * p(a, b) * pull_[to_size(tuned[to_size(b)])];
      fit::Hyperparameter& h = hyper_[to_size(tuned[to_size(a)])];
      h.place = std::clamp(h.place - std::clamp(move, -1.0, 1.0), h.low, h.high);
    }
  }

  struct Feature {
    double place = 0, mean = 0, square = 0;
    int moves = 0;
  };

  // Down −<z_i, ∇_i f>, z of when the round began; each feature counts the rounds it moved in.
  void move_penalties() {
    const fit::FeatureAdamOptions& p = *o_.first_order;
    for (std::size_t i = 0; i < feature_.size(); ++i) {
      Feature& f = feature_[i];
      double along = 0;
      for (std::size_t r = 0; r < judged_.size(); ++r)
        for (std::size_t c = 0; c < outputs_; ++c)
          along -= share_[r] * dense(judged_[r].row)[i] * opened_[i][c] * judged_[r].residual[c] /
                   hyper(Kind::temperature, 0, 1.0, hyper_.size()).value;
      if (along == 0) continue;
      ++f.moves;
      f.mean += (1 - p.decay) * (along - f.mean);
      f.square += (1 - p.decay2) * (along * along - f.square);
      const double m = f.mean / (1 - std::pow(p.decay, f.moves)), v = f.square / (1 - std::pow(p.decay2, f.moves));
      const auto t = static_cast<double>(round_);
      const double length = t / (t + p.halfway) * (p.later + (p.first - p.later) / (1 + f.moves / p.halfway));
      f.place = std::clamp((1 - p.shrinkage) * f.place - length * p.step * m / std::sqrt(v), -p.max_log_ratio,
                           p.max_log_ratio);
    }
  }

  // Weights predict differences from the mean of all targets, taken anew whenever these have doubled in number.
  void move_offset() {
    if (o_.loss != fit::Loss::numbers) return;
    for (const fit::LearnerRow& r : pending_) targets_.push_back(static_cast<double>(r.target));
    if (targets_.size() < 2 * settled_) return;
    settled_ = targets_.size();
    const double before = offset_;
    offset_ = 0;
    for (const double t : targets_) offset_ += t / static_cast<double>(settled_);
    z_.back()[0] += before - offset_;
  }

  // ---- A round's training: rows that steps are taken on, the newest last, and replayed ones.

  struct Work {
    fit::LearnerRow row;
    std::vector<double> x;
    enum { replayed, recent, newest } kind;
  };

  [[nodiscard]] Work work(const fit::LearnerRow& row, decltype(Work::kind) kind) {
    for (const fit::Entry& e : row.entries) {
      double &scale = scale_[to_size(e.slot)], &max = max_[to_size(e.slot)];
      if (scale == 0) {  // fixed where a feature first occurs in the round
        const double square = kind == Work::newest ? static_cast<double>(e.value) * static_cast<double>(e.value) : 0;
        const double squares = squares_[to_size(e.slot)] + square;
        scale = std::pow(squares / (static_cast<double>(seen_) + 1), -o_.power);
        max = 10 * std::sqrt(squares);
      }
    }
    return {row, dense(row), kind};
  }

  void open() {
    opened_ = z_;
    scale_.assign(group_of_.size() + 1, 0);
    max_ = scale_;
    scale_.back() = 1;
    replayed_.clear();
    window_.clear();
    time_ = free_time_ = 0;
    replay_rng_ = rng_.child("replay", static_cast<std::uint64_t>(round_ + 1));
    const auto all = static_cast<std::int64_t>(buffer_.size());
    for (std::int64_t back = std::min(o_.recent, all); back > 0; --back)
      window_.push_back(work(buffer_[to_size((kept_ - back) % std::max<std::int64_t>(o_.buffer, 1))], Work::recent));
  }

  void learn(const fit::LearnerRow& row) {
    for (Work& w : window_) w.kind = Work::recent;
    while (static_cast<std::int64_t>(window_.size()) > o_.recent) window_.erase(window_.begin());
    window_.push_back(work(row, Work::newest));
    replayed_.clear();
    for (std::int64_t i = 0; i < o_.replay && !buffer_.empty(); ++i)
      replayed_.push_back(work(buffer_[replay_rng_.below(buffer_.size())], Work::replayed));
    std::vector<Work> rows = window_;
    rows.insert(rows.end(), replayed_.begin(), replayed_.end());
    double all = 0;
    for (const Work& w : rows) all += static_cast<double>(w.row.weight);
    std::vector<double> weight;
    for (const Work& w : rows)
      weight.push_back(static_cast<double>(w.row.weight) / (all / static_cast<double>(rows.size())) /
                       static_cast<double>(1 + o_.recent + o_.replay));

    const double now = bound(rows, weight);
    const double part = 1 / std::min(static_cast<double>(++learnt_), 800.0);
    curvature = (1 - part) * curvature + part * now;
    double rate = hyper(Kind::rate, 0, 1.0, hyper_.size()).value;
    if (o_.decayed) rate /= std::sqrt(1 + static_cast<double>(round_) / 100);
    double most = now;
    if (o_.loss == fit::Loss::numbers) {
      std::vector<double> tuned = weight;
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].kind != Work::newest)
          tuned[r] *= hyper(rows[r].kind == Work::recent ? Kind::recent : Kind::replay, 0, 1.0, hyper_.size()).value;
      most = std::max(most, bound(rows, tuned));
    }
    const bool free = rate * most <= o_.limit * curvature;
    if (!free) {
      rate = o_.limit * curvature / most;
      ++limited;
    }
    time_ += static_cast<double>(o_.steps) * rate;
    if (free) free_time_ += static_cast<double>(o_.steps) * rate;
    const Matrix after = steps(rows, weight, rate, free, hyper_.size()).first;
    for (std::size_t j = 0; j < hyper_.size(); ++j)
      if (shapes_training(hyper_[j])) s_[j] = steps(rows, weight, rate, free, j).second;
    z_ = after;
  }

  // Of the curvature in the coordinates P^−½ z: the largest row sum of |G| weighted, times the largest curvature of a
  // loss.
  [[nodiscard]] double bound(const std::vector<Work>& rows, const std::vector<double>& weight) const {
    double max = 0;
    for (const Work& a : rows) {
      double sum = 0;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        double g = 0;
        for (std::size_t i = 0; i < a.x.size(); ++i) g += a.x[i] * scale_[i] * rows[k].x[i];
        sum += std::abs(g) * weight[k];
      }
      max = std::max(max, sum);
    }
    return max * (o_.loss == fit::Loss::numbers ? 1.0 : outputs_ == 1 ? 0.25 : 0.5);
  }

  // K steps from z_ along s_j: the weights after them and their derivative.
  [[nodiscard]] std::pair<Matrix, Matrix> steps(const std::vector<Work>& rows, const std::vector<double>& weight,
                                                double rate_now, bool free, std::size_t j) const {
    const bool moves = free && j < hyper_.size() && hyper_[j].kind == Kind::rate;
    const Dual rate{rate_now, moves ? rate_now : 0.0};
    Duals z = duals(j);
    for (std::int64_t k = 0; k < o_.steps; ++k) {
      Duals gradient(z.size(), std::vector<Dual>(outputs_));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::vector<Dual> e = residual(logits(rows[r].x, z), rows[r].row, j);
        const Dual factor = rows[r].kind == Work::replayed ? hyper(Kind::replay, 0, 1.0, j)
                            : rows[r].kind == Work::recent ? hyper(Kind::recent, 0, 1.0, j)
                                                           : Dual(1);
        for (std::size_t i = 0; i < z.size(); ++i)
          for (std::size_t c = 0; c < outputs_; ++c)
            gradient[i][c] = gradient[i][c] + Dual(weight[r]) * factor * Dual(rows[r].x[i]) * e[c];
      }
      for (std::size_t i = 0; i < z.size(); ++i)
        for (std::size_t c = 0; c < outputs_; ++c)
          z[i][c] = z[i][c] - rate / Dual(curvature) * Dual(scale_[i]) * gradient[i][c];
    }
    return parts_of(z);
  }

  // Derivatives fade, and weights decay by the time of the round's steps. With a penalty for every feature that moves
  // with the learning rate also where the limit decided on it, by definition.
  void close() {
    guard();
    Matrix after;
    for (std::size_t j = 0; j <= hyper_.size(); ++j) {
      const bool by_rate = j < hyper_.size() && hyper_[j].kind == Kind::rate;
      const Dual time{time_, !by_rate ? 0.0 : o_.first_order ? time_ : free_time_};
      Duals z = duals(j);
      for (std::size_t i = 0; i < z.size(); ++i)
        for (Dual& n : z[i]) {
          if (j < hyper_.size()) n.d *= memory(j);
          if (i + 1 == z.size()) continue;  // the constant does not decay
          n = exp(Dual(o_.first_order ? -ratio(i) : -1.0) * time * hyper(Kind::l2, group_of_[i], 0.0, j)) * n;
        }
      if (j < hyper_.size() && shapes_training(hyper_[j])) s_[j] = parts_of(z).second;
      after = parts_of(z).first;
    }
    z_ = after;
  }

  // Derivatives of the logits of the rows at hand are at most so many times as large as these, root mean square, or all
  // of s is cut back.
  void guard() {
    std::vector<Work> rows = window_;
    rows.insert(rows.end(), replayed_.begin(), replayed_.end());
    if (rows.empty()) return;
    for (std::size_t j = 0; j < hyper_.size(); ++j) {
      double values = 0, along = 0, targets = 0;
      for (const Work& w : rows) {
        for (const Dual& l : logits(w.x, duals(j))) {
          values += l.value * l.value;
          along += l.d * l.d;
        }
        targets += std::pow(static_cast<double>(w.row.target) - offset_, 2);
      }
      const auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(rows.size())); };
      const double size = root(values) + (o_.loss == fit::Loss::numbers ? root(targets) : 1.0);
      const double max = o_.max_derivative * size;
      if (!(root(along) > max)) continue;
      ++guarded;
      for (auto& of : s_[j])
        for (double& n : of) n *= max / root(along);
    }
  }

  // z, moving with hyperparameter j.
  [[nodiscard]] Duals duals(std::size_t j) const {
    Duals z(z_.size(), std::vector<Dual>(outputs_));
    for (std::size_t i = 0; i < z.size(); ++i)
      for (std::size_t c = 0; c < outputs_; ++c) z[i][c] = {z_[i][c], j < s_.size() ? s_[j][i][c] : 0.0};
    return z;
  }
  [[nodiscard]] std::pair<Matrix, Matrix> parts_of(const Duals& z) const {
    std::pair<Matrix, Matrix> parts{zeros(), zeros()};
    for (std::size_t i = 0; i < z.size(); ++i)
      for (std::size_t c = 0; c < outputs_; ++c) {
        parts.first[i][c] = z[i][c].value;
        parts.second[i][c] = z[i][c].d;
      }
    return parts;
  }

  [[nodiscard]] static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }
  [[nodiscard]] static Eigen::Index size(const std::vector<fit::Hyperparameter>& list) { return index(list.size()); }

  fit::LearnerOptions o_;
  std::vector<fit::Hyperparameter> hyper_;
  Rng rng_;
  std::vector<int> group_of_;
  std::size_t outputs_ = 1;
  Matrix z_;
  std::vector<Matrix> s_;  // by hyperparameter
  std::vector<double> squares_, of_class_, share_, pull_;
  std::vector<Judged> judged_;
  Eigen::MatrixXd covariance_, information_;
  std::vector<fit::LearnerRow> pending_, buffer_;
  std::vector<Feature> feature_;
  std::int64_t round_ = 0, kept_ = 0, seen_ = 0, measured_ = 0, learnt_ = 0;
  double mean_square_ = 0, offset_ = 0;
  std::vector<double> targets_;
  std::size_t settled_ = 0;

  // Of a round.
  Matrix opened_;
  std::vector<double> scale_, max_;  // P, 0 of features that have not occurred, and the largest value
  std::vector<Work> window_, replayed_;
  Rng replay_rng_{0};
  double time_ = 0, free_time_ = 0;
};

}  // namespace obolus::test
