// The learner of `obolus fit`: a linear model that is judged by rows before it is trained on them, and whose
// hyperparameters go down the gradient of these judgements.
//
// A round, with the newest rows N, hyperparameters θ and weights z:
//     outer  f = mean loss of N at z/temperature; hypergradient <∇f(z), s_j>, s_j = dz/dθ_j; a step of Adam on each θ_j
//     inner  z ← ρ z, ρ = exp(−K α x) (L2);   K steps  z ← z − α P ∇g(z), g the mean loss of N and of replayed rows
// and the derivatives s_j with them, exactly: a step's is s ← s − α P (∇²g s + ∂∇g/∂θ_j) − (∂α/∂θ_j) P ∇g. They fade
// from round to round, so that what θ did long ago counts less: that of the learning rate soon, that of L2 never by
// itself. P_i = (mean of value_i²)^−power is a property of the data alone.
//
// With an L2 for every feature (penalties.hpp) z_i decays by exp(−K α x_i) after the steps instead.
//
// Learning rate and L2 have no units: α = rate/L and α x = rate · l2, L being the mean of a bound of the curvature of
// g in the coordinates P^−½ z, max_r Σ_k ω_k |G_rk| times that of the loss.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fit/learner/batch_features.hpp"
#include "fit/learner/outer_loss.hpp"
#include "fit/learner/replay_buffer.hpp"
#include "fit/learner/round_batch.hpp"
#include "fit/model/hyperparameters.hpp"
#include "fit/model/learner_row.hpp"
#include "fit/model/weights.hpp"
#include "fit/penalties/penalties.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

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
  std::optional<FeatureAdamOptions> first_order = {};
  std::optional<OptimisedPenaltyOptions> by_optimiser = {};
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

  // Logits of a row, one per output; valid until the next call.
  const Logits& predict(const LearnerRow& row);
  // The same, and the row waits for train() if it weighs anything.
  const Logits& add(LearnerRow&& row);
  // One round with the rows that wait.
  void train();

  void grow_features(std::int64_t slots) {
    weights_.grow(slots);
    penalties_->grow(slots);
  }
  void grow_classes(int classes);
  void follow(std::vector<PathPlace> path) { path_ = std::move(path); }  // instead of slopes
  void add_l2_group();              // an L2 of its own for one more group of features, like that of the first
  void see(const LearnerRow& row);  // its values count for the features' scales

  [[nodiscard]] std::size_t waiting() const { return pending_.size(); }
  [[nodiscard]] int classes() const { return classes_; }
  [[nodiscard]] int outputs() const { return weights_.outputs(); }
  [[nodiscard]] std::int64_t rounds() const { return round_; }
  [[nodiscard]] double outer_loss() const { return outer_.value(); }  // f of the last round
  [[nodiscard]] const Hyperparameters& hyperparameters() const { return hyper_; }
  [[nodiscard]] Hyperparameters& hyperparameters() { return hyper_; }
  [[nodiscard]] Weights<S>& weights() { return weights_; }
  [[nodiscard]] const Weights<S>& weights() const { return weights_; }
  [[nodiscard]] std::int64_t slots() const { return weights_.slots(); }
  [[nodiscard]] double curvature() const { return curvature_; }
  [[nodiscard]] const std::vector<double>& hypergradient() const { return outer_.slope(); }

  void fields(Archive& a);        // everything
  void model_fields(Archive& a);  // what predictions need
  // Rows must not lead outside of the weights, whatever wrote them. Throws DataError.
  void require_sound(const std::vector<LearnerRow>& rows, int classes) const;

 private:
  using Numbers = typename RoundBatch<S>::Numbers;
  struct Rate {
    double value;
    bool is_limited;  // by LearnerOptions::limit; else it is the hyperparameter's
  };

  void outer_half();
  void move_hyperparameters();
  void move_penalties();
  void inner_half();
  void weigh_batch();
  Rate update_rate();
  void fade_derivatives();
  void set_inner_logits();
  void guard_derivatives();
  void take_steps(double alpha, bool rate_is_limited);
  void write_back();
  void set_logits(int r, const S* sums);
  void regather();
  void number_fields(Archive& a);
  [[nodiscard]] RowPointers rows_for_optimiser() const;
  [[nodiscard]] double memory_of(const Hyperparameter& h) const;
  [[nodiscard]] int outputs_for(int classes) const { return classes <= 2 && !options_.softmax ? 1 : classes; }
  [[nodiscard]] bool trains_classes() const { return options_.loss == Loss::classes; }

  LearnerOptions options_;
  Hyperparameters hyper_;
  Rng rng_;
  int classes_ = 0;
  Weights<S> weights_;
  std::unique_ptr<Penalties<S>> penalties_;
  OuterLoss<S> outer_;
  std::vector<LearnerRow> pending_;
  Numbers pending_sums_;  // of the pending rows, as they were added
  ReplayBuffer buffer_;
  std::vector<PathPlace> path_;
  std::int64_t round_ = 0;
  double seen_ = 0;  // rows
  double curvature_ = 0;

  // Scratch: of a row, then of a round.
  Numbers sums_, lanes_, row_scratch_;
  RoundBatch<S> batch_;
  RowPointers outer_rows_;
  BatchFeatures<S> features_;
  const kernels::fit::Kernels<S>* kernels_;
};

extern template class Learner<float>;
extern template class Learner<double>;

}  // namespace obolus::fit
