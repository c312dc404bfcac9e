// The learner of `obolus fit`: a linear model that is judged by rows before it is trained on them, and whose
// hyperparameters θ follow the slopes of these judgements.
//
// Every row, with weights z:
//     judged   its loss at z/temperature, and the loss's derivatives <∇, s_j> by θ_j, s_j = dz/dθ_j
//     learnt   K steps z ← z − α P ∇g(z), g the mean loss of this row, the `recent` rows before it and `replay` earlier
//              ones, drawn for this row; the two kinds have weights that are tuned
// Every `batch` rows, a round:
//     outer    a step of the filter on θ (hyperparameters.hpp), by the judgements of the round's rows
//     decay    z ← ρ z, ρ = exp(−K α x per row) (L2), and the derivatives fade, so that what θ did long ago counts
//              less: that of the learning rate soon, that of L2 never by itself
// The derivatives s_j go with the steps, exactly: a step's is s ← s − α P (∇²g s + ∂∇g/∂θ_j) − (∂α/∂θ_j) P ∇g.
// P_i = (mean of value_i²)^−power is a property of the data alone. Between two rounds all steps are taken in the span
// of the rows at hand (span.hpp): the weights in memory are read once per row and written once per round.
//
// With an L2 for every feature (penalties.hpp) z_i decays by its own x_i instead.
//
// Learning rate and L2 have no units: α = rate/L and α x = rate · l2, L being the mean of a bound of the curvature of
// g in the coordinates P^−½ z, max_r Σ_k ω_k |G_rk| times that of the loss.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "fit/learner/outer_loss.hpp"
#include "fit/learner/replay_buffer.hpp"
#include "fit/learner/round_batch.hpp"
#include "fit/learner/span.hpp"
#include "fit/model/hyperparameters.hpp"
#include "fit/model/learner_row.hpp"
#include "fit/model/targets.hpp"
#include "fit/model/weights.hpp"
#include "fit/penalties/penalties.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

struct LearnerOptions {
  Loss loss = Loss::classes;
  std::int64_t batch = 8;               // rows of a round
  std::int64_t recent = 8, replay = 2;  // rows beside the newest one that its steps work on
  std::int64_t buffer = 20'000, steps = 8;
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
  // What predicting a row works with.
  struct Scratch {
    Logits sums, lanes;
    typename Weights<S>::Decayed decayed;
    typename Span<S>::Products products;
  };

  Learner(const LearnerOptions& options, Hyperparameters hyperparameters, std::uint64_t seed);

  // Logits of a row, one per output; valid until the scratch is used again. Any number of threads may ask at once,
  // each with a scratch of its own, while nothing else is called.
  const Logits& predict(const LearnerRow& row, Scratch& scratch) const;
  const Logits& predict(const LearnerRow& row) { return predict(row, scratch_); }
  // The same, and the row is learnt if it weighs anything. At most `batch` rows that are trained on may come between
  // two calls of train().
  const Logits& add(LearnerRow&& row);
  // Ends the round: the hyperparameters move by the rows since the last one, and the weights are written.
  void train();

  void grow_features(std::int64_t slots) {
    weights_.grow(slots);
    penalties_->grow(slots);
  }
  void grow_classes(int classes);
  void follow(std::vector<PathPlace> path) { path_ = std::move(path); }  // instead of slopes
  [[nodiscard]] const std::vector<PathPlace>& path() const { return path_; }
  void add_l2_group();              // an L2 of its own for one more group of features, like that of the first
  void see(const LearnerRow& row);  // its values count for the features' scales; train() does so for its rows

  // Of numbers: what predict()'s logits say, anywhere or within the range of the targets so far and a margin.
  [[nodiscard]] double number(const S* logits, bool anywhere) const {
    const double prediction = static_cast<double>(logits[0]) + targets_.offset();
    return anywhere ? prediction : targets_.within_range(prediction);
  }

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

  void see_targets();
  void outer_half();
  void move_hyperparameters();
  void move_penalties();
  void open_span();
  void close_span();
  void learn(const LearnerRow& row, const Numbers& lanes);
  void look(const LearnerRow& row, Numbers& lanes);
  void admit(const LearnerRow& row, typename Span<S>::Kind kind, const Numbers& lanes);
  Rate update_rate();
  void measure_excess();
  void shorten_derivatives();
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
  std::deque<LearnerRow> pending_;  // of the round, in their places
  Numbers judged_;                  // lanes of the outer ones when they came
  Span<S> span_;
  Rng replay_rng_;
  double time_ = 0, free_time_ = 0;                  // Σ K · rate of the span, and the part of it that no limit decided
  double curvature_before_ = 0, learnt_before_ = 0;  // the span
  ReplayBuffer buffer_;
  Targets targets_;
  std::vector<PathPlace> path_;
  std::int64_t round_ = 0;
  double seen_ = 0;                    // rows
  double curvature_ = 0, learnt_ = 0;  // mean over the latest rows; how many

  // Scratch: of a row, then of a round.
  Scratch scratch_;
  Numbers cut_lanes_, other_lanes_;
  std::vector<double> within_;  // by derivative
  RoundBatch<S> batch_;
  RowPointers rows_;
};

extern template class Learner<float>;
extern template class Learner<double>;

}  // namespace obolus::fit
