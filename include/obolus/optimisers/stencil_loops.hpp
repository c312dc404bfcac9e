// The inner problems of a stencil, min_y g + (j/λ) f for every y_j, by gradient steps, Nesterov's or backtracking.
// G_0 = g_y with step α, G_j = j f_y + λ g_y with step β. With momentum or weight decay (heavy_ball.hpp) the gradients
// are N_0 = G_0 and N_j = G_j/λ with steps α and βλ: λ may grow and m keeps its size, and w is a term of g for all y_j.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "obolus/core/heavy_ball.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/optimisers/penalty_work.hpp"

namespace obolus {

// y_j of the stencil, and what the inner solvers keep beside it.
template <class P>
struct StencilIterate {
  using S = ScalarOf<P>;
  int j;
  double weight;  // a_j
  Inner<P> value;
  Inner<P> previous;                    // nesterov: the iterate before
  Vector<S> at, gradient, trial, next;  // backtracking, and adaptive loops: dense
  HeavyBall<P> ball;
};

struct StencilSolver {
  InnerSolver solver;
  double first_step;  // backtracking's steps stay within 1e-12 and 1e6 of it
  InnerStepOptions steps;

  [[nodiscard]] double min_step() const { return 1e-12 * first_step; }
  [[nodiscard]] double max_step() const { return 1e6 * first_step; }
};

template <class P>
class StencilLoops {
  using S = ScalarOf<P>;
  using Iterate = StencilIterate<P>;

 public:
  StencilLoops(const PenaltyWork<P>& at, std::vector<Iterate>& all, const StencilSolver& solver)
      : at_(at), all_(all), solver_(solver) {}

  // One step of every y_j: iteration k = 0, 1, … of a round's loop. `fresh`: the functions changed since the last one.
  void iterate(std::int64_t k, bool fresh) {
    if (solver_.solver == InnerSolver::backtracking) return backtrack(k == 0 || fresh);
    for (Iterate& c : all_) {
      if (!solver_.steps.plain()) {
        c.ball.descend(at_.p, at_.space, c.value, ball_step(c), 1, ball_gradient(c));
        continue;
      }
      if (solver_.solver == InnerSolver::nesterov) extrapolate(c, k);
      if (c.j == 0) at_.space.descend(at_.p, at_.x, c.value, at_.round.alpha);
      else at_.space.descend_penalised(at_.p, at_.x, c.value, at_.round.beta, weights(c));
    }
  }

  // Steps of one y_j until its gradient is small (Algorithm 2).
  LoopResult until(Iterate& c, Until end) {
    if (solver_.solver == InnerSolver::backtracking) return backtrack_until(c, end);
    if (solver_.solver == InnerSolver::nesterov) return accelerate_until(c, end);
    if (!solver_.steps.plain())
      return c.ball.descend_until(at_.p, at_.space, c.value, ball_step(c), end, scale(c), ball_gradient(c));
    if (c.j == 0) return at_.space.descend_until(at_.p, at_.x, c.value, at_.round.alpha, end);
    return at_.space.descend_penalised_until(at_.p, at_.x, c.value, at_.round.beta, weights(c), end);
  }

 private:
  [[nodiscard]] Penalty weights(const Iterate& c) const { return {static_cast<double>(c.j), at_.round.lambda}; }

  // value ← value + k/(k + 3) (value − previous), previous ← value
  void extrapolate(Iterate& c, std::int64_t k) {
    const double momentum = static_cast<double>(k) / static_cast<double>(k + 3);
    at_.space.copy(at_.p, c.value, at_.scratch.point);
    if (k > 0) {
      at_.space.axpy(at_.p, momentum, at_.scratch.point, c.value);
      at_.space.axpy(at_.p, -momentum, c.previous, c.value);
    }
    at_.space.copy(at_.p, at_.scratch.point, c.previous);
  }

  // out ← scale · (j f_y + λ g_y), or g_y for j = 0
  void gradient(const Iterate& c, const Vector<S>& at, double scale, Vector<S>& out) {
    at_.p.inner_gradient_y(at_.x, at, out);
    if (c.j == 0) return;
    at_.p.outer_gradient_y(at_.x, at, at_.scratch.f_y);
    combine<S>(out, S(scale * at_.round.lambda), out, S(scale * c.j), at_.scratch.f_y);
  }
  // N_j = G_j/λ, so that one step size serves every y_j
  void normalised(const Iterate& c, const Vector<S>& at, Vector<S>& out) {
    gradient(c, at, 1.0 / at_.round.lambda, out);
  }
  [[nodiscard]] double scale(const Iterate& c) const { return c.j == 0 ? 1.0 : at_.round.lambda; }
  [[nodiscard]] double ball_step(const Iterate& c) const {
    return c.j == 0 ? at_.round.alpha : at_.round.beta * at_.round.lambda;
  }
  [[nodiscard]] auto ball_gradient(const Iterate& c) {
    return [this, &c](const Vector<S>& at, Vector<S>& out) { normalised(c, at, out); };
  }

  // Nesterov to a tolerance, restarted where the last step went uphill (O'Donoghue, Candès 2015).
  LoopResult accelerate_until(Iterate& c, Until end) {
    LoopResult result;
    at_.space.to_dense(at_.p, c.value, c.at);
    c.next = c.at;  // the iterate before
    const double step = c.j == 0 ? at_.round.alpha : at_.round.beta;
    for (std::int64_t i = 0;;) {
      shift<S>(c.trial, c.at, S(-1), c.next);
      shift<S>(c.trial, c.at, S(static_cast<double>(i) / static_cast<double>(i + 3)), c.trial);
      gradient(c, c.trial, 1.0, c.gradient);
      result.norm = euclidean_norm<S>(c.gradient);
      if (!(result.norm > end.tolerance) || result.steps >= end.cap) break;
      c.next.swap(c.at);
      shift<S>(c.at, c.trial, -S(step), c.gradient);
      ++result.steps;
      Vector<S>& moved = at_.scratch.dense;
      shift<S>(moved, c.at, S(-1), c.next);
      i = inner_product<S>(c.gradient, moved) > 0.0 ? 0 : i + 1;
    }
    at_.space.from_dense(at_.p, c.trial, c.value);
    return result;
  }

  // Finds trial and its gradient. Tells whether the step was short enough: the gradient changed by no more than its own
  // norm. Every step of at most 1/L is.
  bool attempt(Iterate& c) {
    shift<S>(c.trial, c.at, -S(at_.step), c.gradient);
    normalised(c, c.trial, c.next);
    Vector<S>& change = at_.scratch.dense;
    shift<S>(change, c.next, S(-1), c.gradient);
    return euclidean_norm<S>(change) <= euclidean_norm<S>(c.gradient);
  }
  // Bounded: at a gradient of 0 every step is short enough.
  void lengthen() { at_.step = std::min(1.25 * at_.step, solver_.max_step()); }
  void accept(Iterate& c) {
    c.at.swap(c.trial);
    c.gradient.swap(c.next);
  }
  void begin(Iterate& c) {
    at_.space.to_dense(at_.p, c.value, c.at);
    normalised(c, c.at, c.gradient);
  }

  void backtrack(bool restart) {
    if (restart)
      for (Iterate& c : all_) begin(c);
    while (true) {
      bool short_enough = true, finite = true;
      for (Iterate& c : all_) {
        finite = finite && c.gradient.allFinite();
        short_enough = attempt(c) && short_enough;
      }
      if (short_enough || !finite || at_.step <= solver_.min_step()) break;
      at_.step *= 0.5;
    }
    for (Iterate& c : all_) {
      accept(c);
      at_.space.from_dense(at_.p, c.at, c.value);
    }
    lengthen();
  }

  LoopResult backtrack_until(Iterate& c, Until end) {
    LoopResult result;
    begin(c);
    while (true) {
      result.norm = scale(c) * euclidean_norm<S>(c.gradient);
      if (!(result.norm > end.tolerance) || result.steps >= end.cap) break;
      while (!attempt(c) && c.gradient.allFinite() && at_.step > solver_.min_step()) at_.step *= 0.5;
      accept(c);
      lengthen();
      ++result.steps;
    }
    at_.space.from_dense(at_.p, c.at, c.value);
    return result;
  }

  const PenaltyWork<P>& at_;
  std::vector<Iterate>& all_;
  const StencilSolver& solver_;
};

}  // namespace obolus
