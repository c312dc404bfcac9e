// What the paper's three algorithms, and F²SA after them, share: the multiplier λ_t, the pair (y, z) with its warm starts, its extension to the
// copies of a stencil, and the outer step. Each algorithm adds only its inner loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/optimisers/frame.hpp"
#include "obolus/optimisers/penalty_state.hpp"
#include "obolus/optimisers/stencil_loops.hpp"

namespace obolus {

// The frame of Algorithms 1–3. An algorithm derives from it, names itself in `info` and writes `step`.
//
// Order 1 with plain steps is the paper's pair (y, z), through the fused primitives; `dual` keeps w = λ(y − z) in the place of y. Order
// 2 with plain steps and `dual` is a pair too: the mean of its copies and w = λ(y_1 − y_−1)/2. Any other order or solver works on
// the copies of a stencil.
template <class OptionsType>
class PenaltyOptimiser : public Frame<OptionsType> {
 public:
  using Options = OptionsType;
  using Frame<OptionsType>::Frame;
  template <class P>
  using State = PenaltyState<P>;

  // x_1 is projected onto X; z_1 = y_1, hence w_1 = 0.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    this->start(s);
    s.lambda = s.next_lambda = options_.lambda1;
    s.step = options_.alpha(1);
    if (!paired()) s.make_copies(p, y0, order(), inner_solver_of(options_));
    if (dual()) s.space.from_dense(p, Vector<ScalarOf<P>>::Zero(y0.size()), s.y);
    return s;
  }

  // The committed model y, densely; under `dual` it is z + w/λ with the λ of the round that made w.
  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    if (!paired()) return s.space.to_dense(p, s.copy(1).value, out);
    if (!dual()) return s.space.to_dense(p, s.y, out);
    s.space.copy(p, s.z, s.centre);
    s.space.axpy(p, 1.0 / s.lambda, s.y, s.centre);
    s.space.to_dense(p, s.centre, out);
  }

  // The plain inner copy; for even orders, the mean of y_1 and y_−1.
  template <FirstOrderOracle P>
  void read_z(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    if (paired()) return s.space.to_dense(p, s.z, out);
    find_centre(p, s);
    s.space.to_dense(p, s.centre, out);
  }

 protected:
  using Frame<OptionsType>::options_;

  [[nodiscard]] std::int64_t order() const { return order_of(options_); }
  // Two inner iterates, z and y, do for all.
  [[nodiscard]] bool paired() const {
    return inner_solver_of(options_) == InnerSolver::gd && (order() == 1 || (order() == 2 && keeps_w() && !adaptive));
  }
  // The pair stores w in the place of y.
  [[nodiscard]] bool dual() const { return paired() && keeps_w(); }
  // z is the mean of y_1 and y_−1.
  [[nodiscard]] bool central() const { return paired() && order() == 2; }

  template <class P>
  [[nodiscard]] StencilLoops<P> loops(P& p, State<P>& s, const PenaltyRound& r) const {
    return {p, s, r, options_.alpha(1)};
  }

  template <class P>
  [[nodiscard]] PenaltyRound begin_round(P& p, State<P>& s) const {
    ++s.t;
    const PenaltyRound r(options_, s.t, multiplier(s));
    if (!paired()) meet_round(p, s, r.lambda);
    else if (options_.warm_start == WarmStart::tied) s.space.copy(p, s.z, s.y);
    return r;
  }

  // Iteration k of all inner iterates together. `fresh`: the functions changed since the last one.
  template <class P>
  void iterate(const PenaltyRound& r, P& p, State<P>& s, std::int64_t k, bool fresh) const {
    if (paired()) descend(r, p, s, 1);
    else loops(p, s, r).iterate(inner_solver_of(options_), k, fresh);
  }
  // All iterations of a round on the same functions.
  template <class P>
  void iterate_all(const PenaltyRound& r, P& p, State<P>& s, std::int64_t iterations) const {
    if (paired()) return descend(r, p, s, iterations);
    for (std::int64_t k = 0; k < iterations; ++k) iterate(r, p, s, k, false);
  }

  // d_t, then the outer step with γ_t.
  template <class P>
  Step finish_round(const PenaltyRound& r, P& p, State<P>& s, Step step) const {
    s.lambda = step.lambda = r.lambda;
    step.penalised = true;
    if (step.status != Status::ok || !finite(p, s)) step.status = Status::non_finite_inner;
    if (step.status == Status::ok) {
      if (!paired()) stencil_direction(p, s, r.lambda);
      else if (central()) s.space.central_direction(p, s.x, s.z, s.y, r.lambda, s.direction);
      else if (dual()) s.space.dual_direction(p, s.x, s.z, s.y, r.lambda, s.direction);
      else s.space.penalty_direction(p, s.x, s.y, s.z, r.lambda, s.direction);
      s.next_lambda = next_multiplier(r, p, s);
    }
    return this->move(r.gamma, s, step);
  }

  // Algorithm 1 with K inner iterations.
  template <class P>
  Step fixed_loop(P& p, State<P>& s, std::int64_t iterations) const {
    const PenaltyRound r = begin_round(p, s);
    iterate_all(r, p, s, iterations);
    return finish_round(r, p, s, {.inner_iterations = iterations, .steps_y = iterations, .steps_z = iterations});
  }

 private:
  // Algorithm 2 ends the loop of every copy by itself.
  static constexpr bool adaptive = requires(OptionsType o) { o.delta_y; };

  [[nodiscard]] bool keeps_w() const {
    if constexpr (requires { options_.warm_start; }) return options_.warm_start == WarmStart::dual;
    else return false;
  }

  template <class P>
  void descend(const PenaltyRound& r, P& p, State<P>& s, std::int64_t steps) const {
    if (central()) s.space.descend_central(p, s.x, s.z, s.y, {r.beta, r.lambda}, steps);
    else if (dual()) s.space.descend_dual(p, s.x, s.z, s.y, {r.alpha, r.beta, r.lambda}, steps);
    else s.space.descend_pair(p, s.x, s.y, s.z, r.beta, {1.0, r.lambda}, r.alpha, steps);
  }

  template <class P>
  [[nodiscard]] double multiplier(const State<P>& s) const {
    if constexpr (requires { options_.tau; }) {
      if constexpr (requires { options_.lambda_rule; })
        if (options_.lambda_rule == LambdaRule::balance) return s.next_lambda;
      return lambda_at(options_, s.t);
    } else {
      return s.next_lambda;
    }
  }

  // centre ← z or the mean of y_1 and y_−1
  template <class P>
  void find_centre(P& p, State<P>& s) const {
    if (has_plain_copy(order())) return s.space.copy(p, s.copy(0).value, s.centre);
    s.space.copy(p, s.copy(1).value, s.centre);
    s.space.axpy(p, -0.5, s.copy(1).value, s.centre);
    s.space.axpy(p, 0.5, s.copy(-1).value, s.centre);
  }

  // tied: every copy starts from the centre; dual: every λ(y_j − centre) is kept when λ changes
  template <class P>
  void meet_round(P& p, State<P>& s, double lambda) const {
    if (options_.warm_start == WarmStart::separate) return;
    const double kept = options_.warm_start == WarmStart::tied ? 0.0 : s.lambda / lambda;
    if (kept == 1.0) return;
    find_centre(p, s);
    for (PenaltyCopy<P>& c : s.copies) {
      if (kept == 0.0) {
        s.space.copy(p, s.centre, c.value);
      } else {
        s.space.copy(p, c.value, c.previous);
        s.space.axpy(p, kept - 1.0, c.previous, c.value);
        s.space.axpy(p, 1.0 - kept, s.centre, c.value);
      }
    }
  }

  template <class P>
  [[nodiscard]] bool finite(P& p, State<P>& s) const {
    if (paired()) return s.space.all_finite(p, s.y) && s.space.all_finite(p, s.z);
    for (const PenaltyCopy<P>& c : s.copies)
      if (!s.space.all_finite(p, c.value)) return false;
    return true;
  }

  // d = Σ_j a_j [j f_x(y_j) + λ g_x(y_j)]. The difference of order 2 is taken where the problem can without cancelling:
  // ½ [f_x(y_1) + λ(g_x(y_1) − g_x(y_−1))] + ½ f_x(y_−1).
  template <class P>
  void stencil_direction(P& p, State<P>& s, double lambda) const {
    using S = ScalarOf<P>;
    if (order() <= 2) {
      const Inner<P>& other = s.copy(order() == 1 ? 0 : -1).value;
      s.space.penalty_direction(p, s.x, s.copy(1).value, other, lambda, s.direction);
      if (order() == 1) return;
      s.space.to_dense(p, other, s.dense);
      p.outer_gradient_x(s.x, s.dense, s.f_x);
      s.direction = S(0.5) * (s.direction + s.f_x);
      return;
    }
    s.direction.setZero();
    for (const PenaltyCopy<P>& c : s.copies) {
      s.space.to_dense(p, c.value, s.dense);
      p.inner_gradient_x(s.x, s.dense, s.f_x);
      s.direction += S(c.weight * lambda) * s.f_x;
      if (c.j == 0) continue;
      p.outer_gradient_x(s.x, s.dense, s.f_x);
      s.direction += S(c.weight * c.j) * s.f_x;
    }
  }

  template <class P>
  [[nodiscard]] double next_multiplier(const PenaltyRound& r, P& p, State<P>& s) const {
    if constexpr (requires { options_.increment; }) {
      return r.lambda + options_.increment(s.t);
    } else if constexpr (requires { options_.lambda_rule; }) {
      if (options_.lambda_rule == LambdaRule::balance) return balanced(r, p, s);
    }
    return r.lambda;
  }

  // With w = λ(y − z) the bias of w is of the order |w| λ^−p and its inner error λE, E = α|residual|: their sum is least
  // near λ = (|w|/E)^(1/(p+1)), the constants of f and g being the option `balance`.
  template <class P>
  [[nodiscard]] double balanced(const PenaltyRound& r, P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    const bool plain = has_plain_copy(order());
    double w = 0.0, residual = 0.0;
    if (paired()) {
      if (central()) {
        s.space.copy(p, s.z, s.centre);
        s.space.axpy(p, 1.0 / r.lambda, s.y, s.centre);
        residual = s.space.penalised_gradient_norm(p, s.x, s.centre, {1.0, r.lambda}) / r.lambda;
      } else {
        residual = s.space.gradient_norm(p, s.x, s.z);
      }
      s.space.copy(p, s.y, s.centre);
      if (!dual()) s.space.axpy(p, -1.0, s.z, s.centre);
      w = dual() ? 1.0 : r.lambda;
    } else {
      s.space.copy(p, s.copy(1).value, s.centre);
      s.space.axpy(p, -1.0, s.copy(plain ? 0 : -1).value, s.centre);
      residual = plain ? s.space.gradient_norm(p, s.x, s.copy(0).value)
                       : s.space.penalised_gradient_norm(p, s.x, s.copy(1).value, {1.0, r.lambda}) / r.lambda;
      w = plain ? r.lambda : 0.5 * r.lambda;
    }
    s.space.to_dense(p, s.centre, s.dense);
    w *= euclidean_norm<S>(s.dense);
    const double error = r.alpha * residual, max = lambda_at(options_, s.t + 1);
    const double target = error > 0.0 ? std::pow(options_.balance * w / error, 1.0 / static_cast<double>(order() + 1))
                                      : std::numeric_limits<double>::infinity();
    return std::min(std::max(target, options_.lambda1), std::max(max, options_.lambda1));
  }
};

}  // namespace obolus
