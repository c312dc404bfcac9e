// WOBO (Jia, Wang, Chen 2026), their method for the window-averaged regret: steps of x on
//     F_{t,w}(x) = (1/w) Σ_{i<w} F_{t−i}(x),   F_s = 0 for s ≤ 0,
// where each function of the window keeps its own (y, v)_s. For every round s of the window, with its f and g at
// (x, y_s): K_t steps y_s ← y_s − α g_y, Q_t steps on g_yy v_s = f_y, h_s = f_x − g_xy v_s; then d = (1/w) Σ h_s and
// the x-step. A round makes one such outer step, or repeats them until |x⁺ − x|/γ ≤ tolerance/w. Each costs, for every
// function of the window, K g_y, one f_y, f_x and g_xy v, and Q + 1 products g_yy v (gd: Q).
//
// Reconstructed: the F²OBO paper says of it only that a "window-averaging analysis framework removes the need for
// sublinear variation assumptions". Sourced from its abstract (arXiv:2602.06457): a regret of O(T/w²) under linear
// variation, and a single-loop form with O(T/w) and O(wT) gradients in all. The rest follows: w gradients per round and
// a bound without H_2T are one step on each inner problem of the window, with an iterate for each; O(T/w²) takes outer
// steps until ∇F_{t,w} is of order 1/w, as in the one-level method of Hazan, Singh, Zhang 2017. Ours: a new round
// starts from the (y, v) of the last; CG; the cap; `normalise`.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "obolus/core/past_rounds.hpp"
#include "obolus/optimisers/implicit.hpp"

namespace obolus {

struct WoboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule inner_steps = 1.0;
  std::int64_t window = 5;
  Normalise normalise = Normalise::window;
  std::optional<double> tolerance = {};
  std::int64_t max_outer = 1'000;
  Schedule system_steps = 5.0;
  SystemSolver system_solver = SystemSolver::cg;
  std::optional<Schedule> v_step = {};
  double damping = 0.0;
  std::optional<double> radius = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of every y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("inner_steps", inner_steps, "K_t, steps of every y per outer step", Range::count());
    v("window", window, "w, past functions averaged, each with its own y and v", Range::between(1, 1e6));
    v("normalise", normalise, "divide by: window: w; stored: the number of rounds there have been, at most w");
    v("tolerance", tolerance, "outer steps are repeated until |x⁺ − x|/γ ≤ tolerance/w; unset: one per round",
      Range::positive());
    v("max_outer", max_outer, "maximum number of outer steps per round; reaching it is reported", Range::at_least(1.0));
    describe_system(*this, v);
    inner.describe(v);
    outer.describe(v);
  }
};

class Wobo : public ImplicitOptimiser<WoboOptions> {
 public:
  static constexpr OptimiserInfo info{"wobo", "WOBO: a window of past functions, each with its own y and v",
                                      "Jia, Wang, Chen 2026; steps reconstructed from its abstract",
                                      /*needs_hvp=*/true};
  using ImplicitOptimiser::ImplicitOptimiser;

  template <class P>
  struct State : ImplicitState<P> {  // with y and v of the last round
    using S = ScalarOf<P>;
    struct Past {
      Inner<P> y;
      Vector<S> v, momentum;  // the momentum of y
      void fields(Archive& a) {
        a("y", y);
        a("v", v);
        a("momentum", momentum);
      }
    };
    std::vector<Past> past;  // of round s in place s mod (w − 1)
    Vector<S> h, before;     // scratch
    State(P& p, In<S> x0, In<S> y0, std::int64_t window)
        : ImplicitState<P>(p, x0, y0), h(x0.size()), before(x0.size()) {
      for (std::int64_t i = 1; i < window; ++i) past.push_back({this->space.make(p, y0), this->v, {}});
    }
    void fields(Archive& a) {
      ImplicitState<P>::fields(a);
      for (Past& s : past) a("past", s);
    }
    [[nodiscard]] Past& of(Round s) { return past[static_cast<std::size_t>(s) % past.size()]; }
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    check_stored("window", options_.window, "round stores a y and a v", y0.size());
    State<P> s(p, x0, y0, options_.window);
    project_start(s);
    for (auto& each : s.past) each.momentum = s.ball.momentum();
    return s;
  }

  template <HvpOracle P>
    requires Stream<P>
  Step step(P& p, State<P>& s, const Rng&) const {
    if (s.t > 0 && !s.past.empty()) {
      s.space.copy(p, s.y, s.of(s.t).y);
      s.of(s.t).v = s.v;
      s.of(s.t).momentum = s.ball.momentum();
    }
    ++s.t;
    const double gamma = options_.gamma(s.t), window = static_cast<double>(options_.window);
    const double limit = options_.tolerance ? *options_.tolerance / window : std::numeric_limits<double>::infinity();
    Step report;
    for (std::int64_t k = 1;; ++k) {
      s.before = s.x;
      average(p, s, report);
      report = outer_update(gamma, s, report);
      s.before -= s.x;
      const bool reached = !(euclidean_norm<ScalarOf<P>>(s.before) > gamma * limit);
      report.capped = !reached && k == options_.max_outer;
      if (report.status != Status::ok || reached || report.capped) return report;
    }
  }

 private:
  // d, after steps on every inner problem and system of the window
  template <class P>
  void average(P& p, State<P>& s, Step& report) const {
    s.direction.setZero();
    PastRounds<P>(p, s.t, options_.window).each([&](std::int64_t age) {
      if (report.status != Status::ok) return;
      if (age > 0) exchange(s, s.of(s.t - age));
      estimate(p, s, report);
      if (age > 0) exchange(s, s.of(s.t - age));
      s.direction += s.h;
    });
    s.direction /= ScalarOf<P>(divisor(options_.normalise, 1.0, options_.window, s.t));
  }

  template <class P>
  static void exchange(State<P>& s, typename State<P>::Past& past) {
    std::swap(s.y, past.y);
    s.v.swap(past.v);
    s.ball.momentum().swap(past.momentum);
  }

  // h = f_x − g_xy v of the current functions, after their steps
  template <class P>
  void estimate(P& p, State<P>& s, Step& report) const {
    const std::int64_t steps = options_.inner_steps.count(s.t);
    for (std::int64_t k = 0; k < steps; ++k) descend<P>(p, s, options_.alpha(s.t));
    report.inner_iterations += steps;
    report.steps_y += steps;
    const bool indefinite = report.indefinite;
    hypergradient<P>(p, s, system(s.t), report, s.h);
    report.indefinite = report.indefinite || indefinite;
  }
};

}  // namespace obolus
