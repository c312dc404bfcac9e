// A control for comparisons: x never changes. Per round, K_t times: y ← y − α_t ∇_y g_t(x_1, y). Costs K_t g_y.
// A method must beat the best fixed x_1 of a grid; otherwise its outer steps gained nothing.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/heavy_ball.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/samples.hpp"
#include "obolus/core/status.hpp"
#include "obolus/optimisers/info.hpp"

namespace obolus {

struct FixedOptions {
  Schedule alpha = 0.1;
  Schedule inner_steps = 5.0;
  std::optional<Schedule> tolerance = {};
  Samples samples = Samples::given;
  Schedule batch = 256.0;
  InnerStepOptions inner = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("inner_steps", inner_steps, "K_t, steps of y per round", Range::count());
    v("tolerance", tolerance,
      "stops the steps at |∇_y g| ≤ this, after K_t at most; unset: K_t steps; not with samples = \"fresh\"",
      Range::positive());
    v("samples", samples,
      "given: the functions as revealed; round: one batch per round, reused; fresh: new draws for every step");
    v("batch", batch, "samples of a step, or of the round when samples = \"round\"", Range::count());
    inner.describe(v);
  }
};

class Fixed {
 public:
  using Options = FixedOptions;
  static constexpr OptimiserInfo info{"fixed", "fixed x: plain steps of y, a control", "no source: x stays as it is",
                                      /*needs_hvp=*/false, /*stochastic=*/true};

  Fixed(const Options& options, ConvexSet set) : options_(options), set_(std::move(set)) {
    validate(options_, "optimiser");
    if (options_.tolerance && options_.samples == Samples::fresh)
      throw ConfigError("tolerance: given, expected none with samples = \"fresh\": each step has another function");
  }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const ConvexSet& set() const { return set_; }

  template <class P>
  struct State {
    using S = ScalarOf<P>;
    Round t = 0;          // rounds done
    Vector<S> x;          // committed for every round
    Vector<S> direction;  // 0
    Inner<P> y;
    HeavyBall<P> ball;
    InnerSpace<P> space;  // scratch
    State(P& p, In<S> x0, In<S> y0)
        : x(x0), direction(Vector<S>::Zero(x0.size())), y(InnerSpace<P>(p).make(p, y0)), space(p) {}
    void fields(Archive& a) {
      a("t", t);
      a("x", x);
      a("y", y);
      a.added("inner_momentum", ball.momentum());
    }
  };

  // x_1 is projected onto X.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    if (!StochasticOracle<P> && draws_any(options_.samples))
      throw ConfigError("samples: got " + std::string(name_of(options_.samples)) +
                        ", expected given: the problem offers no samples");
    State<P> s(p, x0, y0);
    set_.template project<ScalarOf<P>>(s.x);
    s.ball.allocate(options_.inner, y0.size());
    return s;
  }

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    ++s.t;
    const std::int64_t steps = options_.inner_steps.count(s.t), batch = options_.batch.count(s.t);
    const double alpha = options_.alpha(s.t);
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
    if (options_.samples == Samples::round) draw(p, batch, draws);
    // Along d = 0 every γ > 0 leaves x where it is.
    Step report{.gamma = 1.0, .inner_iterations = steps, .steps_y = steps};
    if (options_.tolerance && options_.samples != Samples::fresh) {
      const Until until{(*options_.tolerance)(s.t), steps};
      const LoopResult loop = descend_until(p, s, alpha, until);
      report.inner_iterations = loop.steps;
      report.steps_y = loop.steps;
      report.capped = !loop.reached(until);
      if (!std::isfinite(loop.norm)) report.status = Status::non_finite_inner;
    } else if (options_.samples != Samples::fresh) {
      descend(p, s, alpha, steps);
    }
    for (std::int64_t k = 0; options_.samples == Samples::fresh && k < steps; ++k) {
      draw(p, batch, draws);
      descend(p, s, alpha, 1);
    }
    if constexpr (StochasticOracle<P>)
      if (draws_any(options_.samples)) p.expectation();
    if (!s.space.all_finite(p, s.y)) report.status = Status::non_finite_inner;
    return report;
  }

  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }

 private:
  template <class P>
  void descend(P& p, State<P>& s, double alpha, std::int64_t steps) const {
    if (options_.inner.plain()) s.space.descend(p, s.x, s.y, alpha, steps);
    else s.ball.descend(p, s.space, s.y, alpha, steps, inner_gradient(p, s));
  }
  template <class P>
  LoopResult descend_until(P& p, State<P>& s, double alpha, Until until) const {
    if (options_.inner.plain()) return s.space.descend_until(p, s.x, s.y, alpha, until);
    return s.ball.descend_until(p, s.space, s.y, alpha, until, 1.0, inner_gradient(p, s));
  }
  template <class P>
  static auto inner_gradient(P& p, State<P>& s) {
    using S = ScalarOf<P>;
    return [&p, &s](const Vector<S>& at, Vector<S>& out) { p.inner_gradient_y(s.x, at, out); };
  }

  template <class P>
  static void draw([[maybe_unused]] P& p, [[maybe_unused]] std::int64_t batch, [[maybe_unused]] Rng& draws) {
    if constexpr (StochasticOracle<P>) p.resample({batch, batch}, draws);
  }

  Options options_;
  ConvexSet set_;
};

}  // namespace obolus
