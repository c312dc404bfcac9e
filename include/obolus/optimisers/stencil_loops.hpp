// The inner problems of a stencil, min_y g + (j/λ) f for every copy y_j, by gradient steps, Nesterov's or backtracking.
// G_0 = g_y with step α, G_j = j f_y + λ g_y with step β.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "obolus/core/norm.hpp"
#include "obolus/optimisers/penalty_state.hpp"

namespace obolus {

template <class P>
class StencilLoops {
  using S = ScalarOf<P>;
  using Copy = PenaltyCopy<P>;

 public:
  StencilLoops(P& p, PenaltyState<P>& s, const PenaltyRound& round, double first_step)
      : p_(p), s_(s), r_(round), min_step_(1e-12 * first_step), max_step_(1e6 * first_step) {}

  // One step of every copy: iteration k = 0, 1, … of a round's loop. `fresh`: the functions changed since the last one.
  void iterate(InnerSolver solver, std::int64_t k, bool fresh) {
    if (solver == InnerSolver::backtracking) return backtrack(k == 0 || fresh);
    for (Copy& c : s_.copies) {
      if (solver == InnerSolver::nesterov) extrapolate(c, k);
      if (c.j == 0) s_.space.descend(p_, s_.x, c.value, r_.alpha);
      else s_.space.descend_penalised(p_, s_.x, c.value, r_.beta, weights(c));
    }
  }

  // Steps of one copy until its gradient is small (Algorithm 2).
  LoopResult until(InnerSolver solver, Copy& c, Until end) {
    if (solver == InnerSolver::backtracking) return backtrack_until(c, end);
    if (solver == InnerSolver::nesterov) return accelerate_until(c, end);
    if (c.j == 0) return s_.space.descend_until(p_, s_.x, c.value, r_.alpha, end);
    return s_.space.descend_penalised_until(p_, s_.x, c.value, r_.beta, weights(c), end);
  }

 private:
  [[nodiscard]] Penalty weights(const Copy& c) const { return {static_cast<double>(c.j), r_.lambda}; }

  // value ← value + k/(k + 3) (value − previous), previous ← value
  void extrapolate(Copy& c, std::int64_t k) {
    const double momentum = static_cast<double>(k) / static_cast<double>(k + 3);
    s_.space.copy(p_, c.value, s_.centre);
    if (k > 0) {
      s_.space.axpy(p_, momentum, s_.centre, c.value);
      s_.space.axpy(p_, -momentum, c.previous, c.value);
    }
    s_.space.copy(p_, s_.centre, c.previous);
  }

  // out ← scale · (j f_y + λ g_y), or g_y for j = 0
  void gradient(const Copy& c, const Vector<S>& at, double scale, Vector<S>& out) {
    p_.inner_gradient_y(s_.x, at, out);
    if (c.j == 0) return;
    p_.outer_gradient_y(s_.x, at, s_.f_y);
    out = S(scale * r_.lambda) * out + S(scale * c.j) * s_.f_y;
  }
  // N_j = G_j/λ, so that one step size serves all copies
  void normalised(const Copy& c, const Vector<S>& at, Vector<S>& out) { gradient(c, at, 1.0 / r_.lambda, out); }
  [[nodiscard]] double scale(const Copy& c) const { return c.j == 0 ? 1.0 : r_.lambda; }

  // Nesterov to a tolerance, restarted where the last step went uphill (O'Donoghue, Candès 2015).
  LoopResult accelerate_until(Copy& c, Until end) {
    LoopResult result;
    s_.space.to_dense(p_, c.value, c.at);
    c.next = c.at;  // the iterate before
    const double step = c.j == 0 ? r_.alpha : r_.beta;
    for (std::int64_t i = 0;;) {
      c.trial = c.at + S(static_cast<double>(i) / static_cast<double>(i + 3)) * (c.at - c.next);
      gradient(c, c.trial, 1.0, c.gradient);
      result.norm = euclidean_norm<S>(c.gradient);
      if (!(result.norm > end.tolerance) || result.steps >= end.cap) break;
      c.next.swap(c.at);
      c.at = c.trial - S(step) * c.gradient;
      ++result.steps;
      s_.dense = c.at - c.next;
      i = inner_product<S>(c.gradient, s_.dense) > 0.0 ? 0 : i + 1;
    }
    s_.space.from_dense(p_, c.trial, c.value);
    return result;
  }

  // trial and its gradient; whether the step was short enough: the gradient changed by no more than itself, which for
  // steps of at most 1/L it cannot
  bool attempt(Copy& c) {
    c.trial = c.at - S(s_.step) * c.gradient;
    normalised(c, c.trial, c.next);
    s_.dense = c.next - c.gradient;
    return euclidean_norm<S>(s_.dense) <= euclidean_norm<S>(c.gradient);
  }
  // Bounded: at a gradient of 0 every step is short enough.
  void lengthen() { s_.step = std::min(1.25 * s_.step, max_step_); }
  void accept(Copy& c) { c.at.swap(c.trial), c.gradient.swap(c.next); }
  void begin(Copy& c) {
    s_.space.to_dense(p_, c.value, c.at);
    normalised(c, c.at, c.gradient);
  }

  void backtrack(bool begin_anew) {
    if (begin_anew)
      for (Copy& c : s_.copies) begin(c);
    while (true) {
      bool short_enough = true, finite = true;
      for (Copy& c : s_.copies) {
        finite = finite && c.gradient.allFinite();
        short_enough = attempt(c) && short_enough;
      }
      if (short_enough || !finite || s_.step <= min_step_) break;
      s_.step *= 0.5;
    }
    for (Copy& c : s_.copies) {
      accept(c);
      s_.space.from_dense(p_, c.at, c.value);
    }
    lengthen();
  }

  LoopResult backtrack_until(Copy& c, Until end) {
    LoopResult result;
    begin(c);
    while (true) {
      result.norm = scale(c) * euclidean_norm<S>(c.gradient);
      if (!(result.norm > end.tolerance) || result.steps >= end.cap) break;
      while (!attempt(c) && c.gradient.allFinite() && s_.step > min_step_) s_.step *= 0.5;
      accept(c);
      lengthen();
      ++result.steps;
    }
    s_.space.from_dense(p_, c.at, c.value);
    return result;
  }

  P& p_;
  PenaltyState<P>& s_;
  const PenaltyRound& r_;
  double min_step_, max_step_;
};

}  // namespace obolus
