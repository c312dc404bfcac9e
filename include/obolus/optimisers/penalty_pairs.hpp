// Three ways to keep the two inner iterates of a penalty method, for plain gradient steps on both. All of them, and the
// iterates of a stencil (stencil_iterates.hpp), offer the same members:
//   warm_start   meets a new round, whose λ may differ from the last one's
//   descend      inner iterations
//   direction    d of the outer step
//   read_y       the committed model, densely;   read_z   the plain inner iterate
//   finite       no iterate has left the finite numbers
//   residual     |∇_y g| at z, or what stands for it: |∇_y (f + λg)|/λ at y_1
//   w_norm       |w|, w = λ(y − z) or λ(y_1 − y_−1)/2
//   fields       the checkpoint. The names of its fields, z and y, are those of the plain pair in all of them.
#pragma once

#include "obolus/core/archive.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/optimisers/penalty_work.hpp"

namespace obolus {

// Order 1 as in the paper: z minimises g, y minimises f + λg.
template <class P>
struct PlainPair {
  using S = ScalarOf<P>;
  Inner<P> z, y;

  PlainPair(P& p, In<S> y0, InnerSpace<P>& space) : z(space.make(p, y0)), y(space.make(p, y0)) {}

  void warm_start(const PenaltyWork<P>& at, WarmStart rule, double /*last_lambda*/) {
    if (rule == WarmStart::tied) at.space.copy(at.p, z, y);
  }
  void descend(const PenaltyWork<P>& at, const Iterations& iterations) {
    const PenaltyRound& r = at.round;
    at.space.descend_pair(at.p, at.x, y, z, r.beta, {1.0, r.lambda}, r.alpha, iterations.count);
  }
  void direction(const PenaltyWork<P>& at, Out<S> d) {
    at.space.penalty_direction(at.p, at.x, y, z, at.round.lambda, d);
  }
  void read_y(P& p, PenaltyScratch<P>& scratch, double /*lambda*/, Out<S> out) { scratch.space.to_dense(p, y, out); }
  void read_z(P& p, PenaltyScratch<P>& scratch, Out<S> out) { scratch.space.to_dense(p, z, out); }
  [[nodiscard]] bool finite(P& p, InnerSpace<P>& space) { return space.all_finite(p, y) && space.all_finite(p, z); }
  [[nodiscard]] double residual(const PenaltyWork<P>& at) { return at.space.gradient_norm(at.p, at.x, z); }
  [[nodiscard]] double w_norm(const PenaltyWork<P>& at) {
    at.space.copy(at.p, y, at.scratch.point);
    at.space.axpy(at.p, -1.0, z, at.scratch.point);
    at.space.to_dense(at.p, at.scratch.point, at.scratch.dense);
    return at.round.lambda * euclidean_norm<S>(at.scratch.dense);
  }
  void fields(Archive& a) {
    a("z", z);
    a("y", y);
  }
};

// What the two pairs share that store w in the place of y: a base iterate, and w scaled by λ, so that a change of λ
// keeps w and moves y = base + w/λ.
template <class P>
struct ScaledPair {
  using S = ScalarOf<P>;
  Inner<P> base, w;

  // y_1 = base_1, hence w_1 = 0.
  ScaledPair(P& p, In<S> y0, InnerSpace<P>& space)
      : base(space.make(p, y0)), w(space.make(p, Vector<S>::Zero(y0.size()))) {}

  // w carries over as it is.
  void warm_start(const PenaltyWork<P>&, WarmStart, double /*last_lambda*/) {}
  // y with the λ of the round that made w.
  void read_y(P& p, PenaltyScratch<P>& scratch, double lambda, Out<S> out) {
    find_y(p, scratch, lambda);
    scratch.space.to_dense(p, scratch.point, out);
  }
  void read_z(P& p, PenaltyScratch<P>& scratch, Out<S> out) { scratch.space.to_dense(p, base, out); }
  [[nodiscard]] bool finite(P& p, InnerSpace<P>& space) { return space.all_finite(p, w) && space.all_finite(p, base); }
  [[nodiscard]] double w_norm(const PenaltyWork<P>& at) {
    at.space.to_dense(at.p, w, at.scratch.dense);
    return euclidean_norm<S>(at.scratch.dense);
  }
  void fields(Archive& a) {
    a("z", base);
    a("y", w);
  }

 protected:
  // scratch.point ← base + w/λ
  void find_y(P& p, PenaltyScratch<P>& scratch, double lambda) {
    scratch.space.copy(p, base, scratch.point);
    scratch.space.axpy(p, 1.0 / lambda, w, scratch.point);
  }
};

// Order 1 in z and w = λ(y − z).
template <class P>
struct DualPair : ScaledPair<P> {
  using S = ScalarOf<P>;
  using ScaledPair<P>::ScaledPair, ScaledPair<P>::base, ScaledPair<P>::w;

  void descend(const PenaltyWork<P>& at, const Iterations& iterations) {
    const PenaltyRound& r = at.round;
    at.space.descend_dual(at.p, at.x, base, w, {r.alpha, r.beta, r.lambda}, iterations.count);
  }
  void direction(const PenaltyWork<P>& at, Out<S> d) {
    at.space.dual_direction(at.p, at.x, base, w, at.round.lambda, d);
  }
  [[nodiscard]] double residual(const PenaltyWork<P>& at) { return at.space.gradient_norm(at.p, at.x, base); }
};

// Order 2 in the mean c of y_1 and y_−1 and w = λ(y_1 − y_−1)/2.
template <class P>
struct CentralPair : ScaledPair<P> {
  using S = ScalarOf<P>;
  using ScaledPair<P>::ScaledPair, ScaledPair<P>::base, ScaledPair<P>::w;

  void descend(const PenaltyWork<P>& at, const Iterations& iterations) {
    at.space.descend_central(at.p, at.x, base, w, {at.round.beta, at.round.lambda}, iterations.count);
  }
  void direction(const PenaltyWork<P>& at, Out<S> d) {
    at.space.central_direction(at.p, at.x, base, w, at.round.lambda, d);
  }
  [[nodiscard]] double residual(const PenaltyWork<P>& at) {
    const double lambda = at.round.lambda;
    this->find_y(at.p, at.scratch, lambda);
    return at.space.penalised_gradient_norm(at.p, at.x, at.scratch.point, {1.0, lambda}) / lambda;
  }
};

}  // namespace obolus
