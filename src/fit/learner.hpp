// The learner of `obolus fit`: a linear model that is judged by rows before it is trained on them, and whose hyperparameters go
// down the gradient of these judgements.
//
// A round, with the newest rows N, hyperparameters θ and weights z:
//     outer   f = mean loss of N at z/temperature; hypergradient <∇f(z), s_j>, s_j = dz/dθ_j; a step of Adam on every θ_j
//     inner   z ← ρ z, ρ = exp(−K α x) (L2);   K steps  z ← z − α P ∇g(z), g the mean loss of N and of replayed rows
// and the derivatives s_j with them, exactly: a step's is s ← s − α P (∇²g s + ∂∇g/∂θ_j) − (∂α/∂θ_j) P ∇g. They fade from round to round,
// so that what θ did long ago counts less: that of the learning rate soon, that of L2 never by itself. P_i = (mean of value_i²)^−power is a property of the data alone.
//
// With an L2 for every feature (feature_penalties.hpp) z_i decays by exp(−K α x_i) after the steps instead.
//
// Learning rate and L2 have no units: α = rate/L and α x = rate · l2, L being the mean of a bound of the curvature of g in the
// coordinates P^−½ z, max_r Σ_k ω_k |G_rk| times that of the loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fit/batch_features.hpp"
#include "fit/feature_penalties.hpp"
#include "fit/hyperparameters.hpp"
#include "fit/optimised_penalties.hpp"
#include "fit/rows.hpp"
#include "fit/weights.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

enum class Loss : std::uint8_t { classes, numbers };

struct LearnerOptions {
  Loss loss = Loss::classes;
  std::int64_t replay = 8, buffer = 20'000, steps = 8;
  double power = 0.5;
  double memory = 0.98, l2_memory = 1.0, replay_memory = 0.99;  // of the derivatives, from round to round
  double limit = 12.0;  // α is at most this over the round's own bound of the curvature
  double max_derivative = 30.0;
  bool balanced = false;  // classes count alike in f
  bool softmax = false;   // also for two classes
  bool decayed = false;   // rate/√(1 + t/100)
  // An L2 for every feature, by the first-order step or by an optimiser.
  std::optional<FeaturePenaltyOptions> penalties = {};
  std::optional<OptimisedPenaltyOptions> optimised = {};
};

struct PathPlace {
  std::int64_t round = 0;
  std::vector<double> places;  // of what is tuned
};

template <class S>
class Learner {
 public:
  using Logits = std::vector<S, LineAllocator<S>>;
  Learner(const LearnerOptions& options, Hyperparameters hyperparameters, std::uint64_t seed);

  // Logits of a row, one an output; valid until the next call.
  const Logits& predict(const LearnerRow& row);
  // The same, and the row waits for train() if it weighs anything.
  const Logits& add(LearnerRow&& row);
  void train();

  void grow_features(std::int64_t slots) {
    weights_.grow(slots);
    if (penalties_) penalties_->grow(slots);
  }
  void grow_classes(int classes);
  void follow(std::vector<PathPlace> path) { path_ = std::move(path); }  // instead of slopes
  void add_l2_group();              // an L2 of its own for one more group of features, like that of the first
  void see(const LearnerRow& row);  // its values count for the features' scales

  [[nodiscard]] std::size_t waiting() const { return pending_.size(); }
  [[nodiscard]] int classes() const { return classes_; }
  [[nodiscard]] int outputs() const { return weights_.outputs(); }
  [[nodiscard]] std::int64_t rounds() const { return round_; }
  [[nodiscard]] double outer_loss() const { return outer_loss_; }  // f of the last round
  [[nodiscard]] const Hyperparameters& hyperparameters() const { return hyper_; }
  [[nodiscard]] Hyperparameters& hyperparameters() { return hyper_; }
  [[nodiscard]] Weights<S>& weights() { return weights_; }
  [[nodiscard]] const Weights<S>& weights() const { return weights_; }
  [[nodiscard]] std::int64_t slots() const { return weights_.slots(); }
  [[nodiscard]] double curvature() const { return curvature_; }
  [[nodiscard]] const std::vector<double>& hypergradient() const { return slope_; }

  void fields(Archive& a);        // everything
  void model_fields(Archive& a);  // what predictions need
  // Rows must not lead outside of the weights, whoever wrote them. Throws DataError.
  void require_sound(const std::vector<LearnerRow>& rows, int classes) const;

 private:
  using Row = LearnerRow;
  using Numbers = std::vector<S, LineAllocator<S>>;
  using Batch = kernels::fit::Batch<S>;

  void lay_out();
  void place(const S* sums, int r);
  void judge();
  void move_hyperparameters();
  void judge_row(int r, double weight);
  void move_penalties();
  void move_touched();
  void ask_optimiser();
  [[nodiscard]] bool features_differ() const { return penalties_ || optimised_; }
  void draw_replay(const char* what, std::vector<const Row*>& rows);
  double rate_of_round(bool& free);
  void decay_weights(double rate, bool free);
  void steps(const S* gram, double alpha, bool free);
  void write_back();
  void decay_features(double rate);
  void guard_derivatives();
  [[nodiscard]] double memory_of(const Hyperparameter& h) const;
  [[nodiscard]] const Row& row(int r) const { return *batch_[to_size(r)]; }
  void take(Role unwanted);  // into the batch
  void train_inner();
  void keep();
  void regather();
  void number_fields(Archive& a);
  [[nodiscard]] bool trains_classes() const { return o_.loss == Loss::classes; }
  [[nodiscard]] Batch batch();

  LearnerOptions o_;
  Hyperparameters hyper_;
  Rng rng_;
  int classes_ = 0;
  Weights<S> weights_;
  std::vector<Row> pending_, buffer_;
  std::int64_t buffer_next_ = 0;
  std::int64_t round_ = 0;
  double seen_ = 0;  // rows
  double curvature_ = 0, outer_loss_ = 0;
  std::vector<PathPlace> path_;
  std::optional<FeaturePenalties> penalties_;
  std::optional<OptimisedPenalties> optimised_;
  std::int64_t kept_ = 0;             // rows of the round before that are the last of the buffer
  std::vector<double> class_weight_;  // rows judged of each class

  // Scratch of a round.
  int rows_ = 0, stride_ = 0;
  std::vector<const Row*> batch_;   // rows of the round: outer ones, or then the inner ones
  std::size_t fresh_ = 0;           // of them are new
  std::vector<const Row*> judged_;  // outer rows, and the slopes of f by their logits, where features have penalties
  Numbers residual_;
  std::vector<float> feature_slope_;  // by slot; 0 but for the features of
  std::vector<std::int32_t> touched_;
  std::vector<std::size_t> place_;
  Numbers pending_sums_, sums_, lane_, logits_, push_, total_, scratch_, weight_, target_, is_replayed_;
  BatchFeatures<S> features_;
  std::vector<std::int32_t> label_;
  std::vector<kernels::fit::Part> part_;
  std::vector<int> part_class_;
  std::vector<S> shift_, scale_;
  std::vector<double> slope_, slopes_, probability_;
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class Learner<float>;
extern template class Learner<double>;

}  // namespace obolus::fit
