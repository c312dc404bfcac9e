// OBBO (Bohne et al. 2024): K_t steps of y, the hypergradient through them in reverse mode (unrolled.hpp), the mean of
// the last w hypergradients, and a Bregman step of x. A round costs K g_y, one f_y and f_x, K − 1 products with g_yy
// and K with g_xy.
//
// Sourced: iterative differentiation, the Bregman step, K = O(log T). Reconstructed: the rest; while the window fills,
// the mean is over what is stored. The paper's regret assumes `geometry = "euclidean"`; `diagonal` is a moving average
// of squares, not AdaGrad.
#pragma once

#include "obolus/optimisers/unrolled.hpp"

namespace obolus {

struct ObboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule inner_steps = 5.0;
  std::int64_t window = 1;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  [[nodiscard]] bool at_once() const { return inner.plain(); }

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("inner_steps", inner_steps, "K_t, steps of y per round, differentiated through", Range::count());
    v("window", window, "w, stored hypergradients averaged", Range::between(1, 1e6));
    inner.describe(v);
    outer.describe(v);
    other_name(v, "geometry", "outer_step", outer.geometry);  // the source's word for its Bregman step
  }
};

class Obbo : public UnrolledOptimiser<ObboOptions> {
 public:
  static constexpr OptimiserInfo info{"obbo", "OBBO: hypergradients through the inner steps, Bregman outer step",
                                      "Bohne et al. 2024", /*needs_hvp=*/true};
  using UnrolledOptimiser::UnrolledOptimiser;

  template <HvpOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const std::int64_t steps = options_.inner_steps.count(s.t);
    const double alpha = options_.alpha(s.t);
    Step report{.inner_iterations = steps, .steps_y = steps};
    if (unroll<P>(p, s, steps, alpha)) average<P>(s);
    else report.status = Status::non_finite_inner;
    return outer_update(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
