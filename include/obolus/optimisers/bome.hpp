// BOME (Liu et al., NeurIPS 2022): a step of x, y that descends f and closes the value gap q(x, y) = g(x, y) − g(x, ŷ):
// ŷ is K steps on g(x, ·) from y, and with ∇q = (q_x, q_y) = (g_x(x, y) − g_x(x, ŷ), g_y(x, y)), ŷ held constant,
//     λ = max((η|∇q|² − <∇f, ∇q>)/|∇q|², 0),   0 where ∇q = 0;
//     y ← y − y_step (f_y + λ q_y),   d = f_x + λ q_x,   all at (x_t, y_t);   x-step.
// A round costs K + 1 g_y, one f_y, one f_x and two g_x.
//
// Sourced: the step, with φ = η|∇q|², η = 1/2. Ours: a step of y of its own (unset: γ, the paper's).
// At rest λq_x = g_xy (I − (I − α g_yy)^K) times the exact term: the error of d falls with K, not with t.
#pragma once

#include <algorithm>
#include <cmath>

#include "obolus/core/norm.hpp"
#include "obolus/optimisers/value_gap.hpp"

namespace obolus {

struct BomeOptions {
  Schedule alpha = 0.1;
  Schedule inner_steps = 5.0;
  Schedule gamma = 0.01;
  std::optional<Schedule> y_step = {};
  double eta = 0.5;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of ŷ, α_t", Range::positive());
    v("inner_steps", inner_steps, "K_t, steps of ŷ from y per round", Range::count());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("y_step", y_step, "step size of y; unset: γ_t", Range::positive());
    v("eta", eta, "η, how fast the value gap must close: φ = η|∇q|²", Range::positive());
    outer.describe(v);
  }
};

class Bome : public ValueGapOptimiser<BomeOptions> {
 public:
  static constexpr OptimiserInfo info{"bome", "BOME: descent of f under a closing value gap",
                                      "Liu et al., NeurIPS 2022"};
  using ValueGapOptimiser::ValueGapOptimiser;

  template <class P>
  struct State : ValueGapState<P> {
    using S = ScalarOf<P>;
    Vector<S> y_dense, f_x, f_y, q_x, q_y, g_x;  // scratch: y or ŷ densely, and gradients there
    State(P& p, In<S> x0, In<S> y0)
        : ValueGapState<P>(p, x0, y0),
          y_dense(y0),
          f_x(x0.size()),
          f_y(y0.size()),
          q_x(x0.size()),
          q_y(y0.size()),
          g_x(x0.size()) {}
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    project_start(s);
    return s;
  }

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    using S = ScalarOf<P>;
    ++s.t;
    s.space.copy(p, s.y, s.z);
    Step report = descend_z<P>(p, s);
    if (report.status == Status::ok) {
      find_gradients<P>(p, s);
      report.lambda = multiplier<P>(s);
      s.direction = s.f_x + S(report.lambda) * s.q_x;
      // NOLINTNEXTLINE(bugprone-branch-clone): the order decides which status is told
      if (!s.f_y.allFinite() || !s.q_y.allFinite()) report.status = Status::non_finite_inner;
      else if (!std::isfinite(report.lambda)) report.status = Status::non_finite_direction;
      else if (!move_y<P>(p, s, report.lambda)) report.status = Status::non_finite_inner;
    }
    return outer_update(options_.gamma(s.t), s, report);
  }

 private:
  // ∇f and ∇q at (x, y); y is left in s.y_dense.
  template <class P>
  void find_gradients(P& p, State<P>& s) const {
    s.space.to_dense(p, s.z, s.y_dense);
    p.inner_gradient_x(s.x, s.y_dense, s.g_x);
    s.space.to_dense(p, s.y, s.y_dense);
    p.inner_gradient_x(s.x, s.y_dense, s.q_x);
    s.q_x -= s.g_x;
    p.inner_gradient_y(s.x, s.y_dense, s.q_y);
    p.outer_gradient_x(s.x, s.y_dense, s.f_x);
    p.outer_gradient_y(s.x, s.y_dense, s.f_y);
  }

  template <class P>
  [[nodiscard]] double multiplier(const State<P>& s) const {
    using S = ScalarOf<P>;
    const double squared = inner_product<S>(s.q_x, s.q_x) + inner_product<S>(s.q_y, s.q_y);
    if (squared == 0.0) return 0.0;
    const double slope = inner_product<S>(s.f_x, s.q_x) + inner_product<S>(s.f_y, s.q_y);
    return std::max((options_.eta * squared - slope) / squared, 0.0);  // a NaN stays one in this order
  }

  template <class P>
  [[nodiscard]] bool move_y(P& p, State<P>& s, double lambda) const {
    using S = ScalarOf<P>;
    s.y_dense -= S(y_step(s.t)) * (s.f_y + S(lambda) * s.q_y);
    s.space.from_dense(p, s.y_dense, s.y);
    return s.y_dense.allFinite();
  }
};

}  // namespace obolus
