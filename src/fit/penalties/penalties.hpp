// The L2 penalties of a learner's weights: how they move, and when weights decay by them. There are three kinds: one
// penalty for all features or for each group of them, tuned like every hyperparameter (shared.hpp); one for every
// feature, moved by a first-order step (first_order.hpp); and one for every feature, moved by a registered optimiser
// (by_optimiser.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "fit/model/hyperparameters.hpp"
#include "fit/model/learner_row.hpp"
#include "fit/model/weights.hpp"
#include "fit/penalties/feature_adam.hpp"
#include "fit/penalties/optimised_penalties.hpp"
#include "obolus/core/archive.hpp"

namespace obolus::fit {

// What penalties may move by, between the outer and the inner half of a round.
template <class S>
struct PenaltyRound {
  std::int64_t round = 0;
  int classes = 0;
  double curvature = 1;
  const Hyperparameters& hyper;
  const RowPointers& outer;                        // those that f was measured on
  std::span<const S> residuals;                    // ∂f/∂logits, product_width() numbers per outer row; empty: no f
  std::function<RowPointers()> inner;              // rows to train on that f was not measured on
  std::function<double(std::int64_t slot)> scale;  // P
};

// What a round's decay follows from.
struct DecayTime {
  const Hyperparameters& hyper;
  double steps_times_rate = 0;            // times an L2 penalty it is the time of a round
  double free_part = 1;                   // of it: what the rate decided, not its limit
  double rate_memory = 1, l2_memory = 1;  // of the derivatives
};

template <class S>
class Penalties {
 public:
  virtual ~Penalties() = default;
  [[nodiscard]] virtual bool per_feature() const = 0;
  [[nodiscard]] virtual bool needs_residuals() const { return false; }
  virtual void grow(std::int64_t) {}
  // False: what came out is not a number, and the weights' ratios are as before.
  [[nodiscard]] virtual bool move(const PenaltyRound<S>&, Weights<S>&) { return true; }
  virtual void decay_after_steps(const DecayTime&, Weights<S>&) {}
  virtual void fields(Archive&, std::int64_t /*slots*/, int /*classes*/) {}
};

// With neither of the options, penalties are shared.
template <class S>
[[nodiscard]] std::unique_ptr<Penalties<S>> make_penalties(const std::optional<FeatureAdamOptions>& first_order,
                                                           const std::optional<OptimisedPenaltyOptions>& by_optimiser);

}  // namespace obolus::fit
