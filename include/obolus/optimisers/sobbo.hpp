// SOBBO (Bohne et al. 2024): OBBO on samples, with a long window (50 in the F²OBO paper) against their noise.
//
// Reconstructed. `estimator = "itd"` differentiates through the K steps on the batch. `estimator = "neumann"` draws m̃
// uniformly from {0 … m−1} and takes v = (m/L) Π_{j≤m̃} (I − H_j/L) f_y, whose mean is the m-term series;
// h = f_x − g_xy v: m̃ products and one with g_xy. `samples = "round"` uses the round's batch throughout; `fresh` draws
// for every inner step, and once for all of the reverse pass or for every H_j; `given` draws only m̃.
#pragma once

#include "obolus/core/samples.hpp"
#include "obolus/optimisers/unrolled.hpp"

namespace obolus {

enum class Estimator : std::uint8_t { itd, neumann };
template <>
struct EnumNames<Estimator> {
  static constexpr std::array<std::pair<Estimator, std::string_view>, 2> values{
      {{Estimator::itd, "itd"}, {Estimator::neumann, "neumann"}}};
};

struct SobboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule inner_steps = 5.0;
  std::int64_t window = 50;
  Estimator estimator = Estimator::itd;
  std::int64_t system_steps = 10;
  std::optional<double> L_g1 = {};
  Samples samples = Samples::round;
  Schedule batch = 256.0;
  Schedule outer_batch = 256.0;
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  [[nodiscard]] bool at_once() const {
    return inner.plain() && samples != Samples::fresh && estimator == Estimator::itd;
  }

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("inner_steps", inner_steps, "K_t, steps of y per round", Range::count());
    v("window", window, "w, stored hypergradients averaged", Range::between(1, 1e6));
    v("estimator", estimator, "itd: through the steps on the batch; neumann: a randomly truncated series");
    v("system_steps", system_steps, "m, terms of the series that neumann truncates", Range::between(1, 1e9));
    v("L_g1", L_g1, "L of the Neumann series; unset: in configs the problem's own, else 1/α_1", Range::positive());
    v("samples", samples,
      "round: one batch per round, reused; fresh: new draws for every step; given: none, the round's own");
    v("batch", batch, "samples of an inner step (and of the round when samples = \"round\")", Range::count());
    v("outer_batch", outer_batch, "samples of the hypergradient when samples = \"fresh\"", Range::count());
    inner.describe(v);
    outer.describe(v);
    other_name(v, "geometry", "outer_step", outer.geometry);  // the source's word for its Bregman step
  }
};

class Sobbo : public UnrolledOptimiser<SobboOptions> {
 public:
  static constexpr OptimiserInfo info{"sobbo", "SOBBO: OBBO on samples", "Bohne et al. 2024; reconstructed",
                                      /*needs_hvp=*/true, /*stochastic=*/true};
  using UnrolledOptimiser::UnrolledOptimiser;

  template <HvpOracle P>
    requires StochasticOracle<P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    ++s.t;
    const std::int64_t steps = options_.inner_steps.count(s.t);
    const double alpha = options_.alpha(s.t);
    const std::int64_t batch = options_.batch.count(s.t), outer = options_.outer_batch.count(s.t);
    const bool fresh = options_.samples == Samples::fresh;
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
    const auto draw = [&](std::int64_t size) { p.resample({size, size}, draws); };
    if (options_.samples == Samples::round) draw(batch);
    bool finite = false;
    if (options_.at_once()) {
      finite = unroll<P>(p, s, steps, alpha);
    } else {
      descend_and_remember(p, s, steps, alpha, [&](std::int64_t) {
        if (fresh) draw(batch);
      });
      if (fresh) draw(outer);
      finite = refresh_outer_gradient<P>(p, s);
      if (finite && options_.estimator == Estimator::itd) reverse(p, s, steps, alpha);
      else if (finite)
        truncated_series(p, s, rng, [&] {
          if (fresh) draw(outer);
        });
    }
    Step report{.inner_iterations = steps, .steps_y = steps};
    if (finite) average<P>(s);
    else report.status = Status::non_finite_inner;
    if (draws_any(options_.samples)) p.expectation();
    return outer_update(options_.gamma(s.t), s, report);
  }

 private:
  template <class P, class Draw>
  void truncated_series(P& p, State<P>& s, const Rng& rng, Draw&& draw) const {
    using S = ScalarOf<P>;
    const double L = options_.L_g1.value_or(1.0 / options_.alpha(1));
    Rng truncation = rng.child("truncation", static_cast<std::uint64_t>(s.t));
    const std::uint64_t terms = truncation.below(static_cast<std::uint64_t>(options_.system_steps));
    p.outer_gradient_x(s.x, s.y_dense, s.h);  // on the draw of f_y
    s.v = S(static_cast<double>(options_.system_steps) / L) * s.f_y;
    for (std::uint64_t j = 0; j < terms; ++j) {
      draw();
      this->template inner_product_yy<P>(p, s);
      s.v -= S(1.0 / L) * s.product;
    }
    draw();
    p.inner_hvp_xy(s.x, s.y_dense, s.v, s.cross);
    s.h -= s.cross;
  }
};

}  // namespace obolus
