// What every optimiser has: its options, the set of x, and the outer step that ends a round.
#pragma once

#include <utility>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/outer_step.hpp"
#include "obolus/core/status.hpp"

namespace obolus {

// An algorithm derives from it, names itself in `info` and writes State, init, step and read_y. Its options have
// `OuterStepOptions outer`.
template <class OptionsType>
class OptimiserBase {
 public:
  using Options = OptionsType;

  OptimiserBase(Options options, ConvexSet set)
      : options_(std::move(options)), set_(std::move(set)), outer_(options_.outer, set_) {
    validate(options_, "optimiser");
  }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const ConvexSet& set() const { return set_; }

 protected:
  // x_1 is projected onto X.
  template <class State>
  void project_start(State& s) const {
    using S = typename decltype(s.x)::Scalar;
    set_.template project<S>(s.x);
    s.outer = outer_.template init<S>(s.x);
  }

  // The step of x along the state's direction, unless the round has failed already.
  template <class State>
  Step outer_update(double gamma, State& s, Step step) const {
    using S = typename decltype(s.x)::Scalar;
    step.gamma = gamma;
    if (step.status != Status::ok) return step;
    if (!all_finite<S>(s.direction)) {
      step.status = Status::non_finite_direction;
      return step;
    }
    outer_.template operator()<S>(set_, gamma, s.direction, s.x, s.outer);
    if (!all_finite<S>(s.x)) step.status = Status::non_finite_outer;
    return step;
  }

  Options options_;
  ConvexSet set_;
  OuterStep outer_;
};

}  // namespace obolus
