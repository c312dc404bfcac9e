// The inner iterates y_j of a stencil, one for each of its points, with the members that penalty_pairs.hpp lists.
#pragma once

#include <string>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/optimisers/stencil.hpp"
#include "obolus/optimisers/stencil_loops.hpp"

namespace obolus {

template <class P>
class StencilIterates {
  using S = ScalarOf<P>;
  using Iterate = StencilIterate<P>;

 public:
  StencilIterates(P& p, In<S> y0, InnerSpace<P>& space, std::int64_t order, const StencilSolver& solver)
      : order_(order), solver_(solver), start_(space.make(p, y0)) {
    const Vector<S> buffer(solver.solver == InnerSolver::gd ? 0 : y0.size());
    for (const StencilPoint& point : stencil(order)) {
      all_.push_back({point.j, point.weight, space.make(p, y0), space.make(p, y0), buffer, buffer, buffer, buffer, {}});
      all_.back().ball.allocate(solver.steps, y0.size());
    }
  }

  [[nodiscard]] std::vector<Iterate>& all() { return all_; }
  [[nodiscard]] StencilLoops<P> loops(const PenaltyWork<P>& at) { return {at, all_, solver_}; }

  // tied: every y_j starts from the centre; dual: every λ(y_j − centre) is kept when λ changes.
  void warm_start(const PenaltyWork<P>& at, WarmStart rule, double last_lambda) {
    if (rule == WarmStart::separate) return;
    const double kept = rule == WarmStart::tied ? 0.0 : last_lambda / at.round.lambda;
    if (kept == 1.0) return;
    Inner<P>& centre = at.scratch.point;
    find_centre(at.p, at.space, centre);
    for (Iterate& c : all_) {
      if (kept == 0.0) {
        at.space.copy(at.p, centre, c.value);
      } else {
        at.space.copy(at.p, c.value, c.previous);
        at.space.axpy(at.p, kept - 1.0, c.previous, c.value);
        at.space.axpy(at.p, 1.0 - kept, centre, c.value);
      }
    }
    if (!solver_.steps.plain()) move_momenta(kept, at.scratch.dense);
  }

  void descend(const PenaltyWork<P>& at, const Iterations& iterations) {
    StencilLoops<P> solve = loops(at);
    for (std::int64_t k = iterations.done; k < iterations.done + iterations.count; ++k)
      solve.iterate(k, iterations.fresh);
  }

  // d = Σ_j a_j [j f_x(y_j) + λ g_x(y_j)]. The difference of order 2 is taken where the problem can without cancelling:
  // ½ [f_x(y_1) + λ(g_x(y_1) − g_x(y_−1))] + ½ f_x(y_−1).
  void direction(const PenaltyWork<P>& at, Out<S> d) {
    if (order_ > 2) return sum_direction(at, d);
    const Inner<P>& other = partner();
    at.space.penalty_direction(at.p, at.x, iterate(1).value, other, at.round.lambda, d);
    if (order_ == 1) return;
    Vector<S>& f_x = at.scratch.x_gradient;
    at.space.to_dense(at.p, other, at.scratch.dense);
    at.p.outer_gradient_x(at.x, at.scratch.dense, f_x);
    add_scaled<S>(d, S(1), f_x);
    scale<S>(d, S(0.5), d);
  }

  void read_y(P& p, PenaltyScratch<P>& scratch, double /*lambda*/, Out<S> out) {
    scratch.space.to_dense(p, iterate(1).value, out);
  }
  void read_z(P& p, PenaltyScratch<P>& scratch, Out<S> out) {
    find_centre(p, scratch.space, scratch.point);
    scratch.space.to_dense(p, scratch.point, out);
  }
  [[nodiscard]] bool finite(P& p, InnerSpace<P>& space) {
    for (const Iterate& c : all_)
      if (!space.all_finite(p, c.value)) return false;
    return true;
  }
  [[nodiscard]] double residual(const PenaltyWork<P>& at) {
    if (has_plain_iterate(order_)) return at.space.gradient_norm(at.p, at.x, iterate(0).value);
    const double lambda = at.round.lambda;
    return at.space.penalised_gradient_norm(at.p, at.x, iterate(1).value, {1.0, lambda}) / lambda;
  }
  [[nodiscard]] double w_norm(const PenaltyWork<P>& at) {
    at.space.copy(at.p, iterate(1).value, at.scratch.point);
    at.space.axpy(at.p, -1.0, partner(), at.scratch.point);
    at.space.to_dense(at.p, at.scratch.point, at.scratch.dense);
    const double scale = has_plain_iterate(order_) ? at.round.lambda : 0.5 * at.round.lambda;
    return scale * euclidean_norm<S>(at.scratch.dense);
  }

  // Checkpoints have the fields of the pair here too, as it started.
  void fields(Archive& a) {
    a("z", start_);
    a("y", start_);
    for (Iterate& c : all_) a("y_" + std::to_string(c.j), c.value);
    for (Iterate& c : all_) a.added("momentum_" + std::to_string(c.j), c.ball.momentum());
  }

 private:
  [[nodiscard]] Iterate& iterate(int j) {
    for (Iterate& c : all_)
      if (c.j == j) return c;
    return all_.back();
  }
  // What y_1 is compared with: z, or y_−1.
  [[nodiscard]] const Inner<P>& partner() { return iterate(has_plain_iterate(order_) ? 0 : -1).value; }

  // centre ← z, or the mean of y_1 and y_−1
  void find_centre(P& p, InnerSpace<P>& space, Inner<P>& centre) {
    if (has_plain_iterate(order_)) return space.copy(p, iterate(0).value, centre);
    space.copy(p, iterate(1).value, centre);
    space.axpy(p, -0.5, iterate(1).value, centre);
    space.axpy(p, 0.5, iterate(-1).value, centre);
  }

  // As a warm start moves the iterates: m_j ← centre + kept (m_j − centre).
  void move_momenta(double kept, Vector<S>& centre) {
    if (has_plain_iterate(order_)) centre = iterate(0).ball.momentum();
    else combine<S>(centre, S(0.5), iterate(1).ball.momentum(), S(0.5), iterate(-1).ball.momentum());
    for (Iterate& c : all_) combine<S>(c.ball.momentum(), S(kept), c.ball.momentum(), S(1.0 - kept), centre);
  }

  void sum_direction(const PenaltyWork<P>& at, Out<S> d) {
    Vector<S>& gradient = at.scratch.x_gradient;
    d.setZero();
    for (const Iterate& c : all_) {
      at.space.to_dense(at.p, c.value, at.scratch.dense);
      at.p.inner_gradient_x(at.x, at.scratch.dense, gradient);
      add_scaled<S>(d, S(c.weight * at.round.lambda), gradient);
      if (c.j == 0) continue;
      at.p.outer_gradient_x(at.x, at.scratch.dense, gradient);
      add_scaled<S>(d, S(c.weight * c.j), gradient);
    }
  }

  std::int64_t order_;
  StencilSolver solver_;
  Inner<P> start_;
  std::vector<Iterate> all_;
};

}  // namespace obolus
