// The state of a penalty method: x, and one inner iterate for every point of its stencil.
#pragma once

#include <string>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/outer_step.hpp"
#include "obolus/optimisers/penalty_options.hpp"
#include "obolus/optimisers/stencil.hpp"

namespace obolus {

// y_j of the stencil, and what the inner solvers keep beside it.
template <class P>
struct PenaltyCopy {
  using S = ScalarOf<P>;
  int j;
  double weight;
  Inner<P> value;
  Inner<P> previous;                    // nesterov: the iterate before
  Vector<S> at, gradient, trial, next;  // backtracking, and adaptive loops: dense
};

template <class P>
struct PenaltyState {
  using S = ScalarOf<P>;
  Round t = 0;               // rounds done
  double lambda = 1.0;       // λ of the last round
  double next_lambda = 1.0;  // λ of the round to come, where a rule computes it from the last
  double step = 0.0;         // backtracking's step size
  Vector<S> x;               // committed for the round to come
  Vector<S> direction;       // d of the last round
  OuterMemory<S> outer;
  Inner<P> z;
  Inner<P> y;                          // under the pair's `dual`: w = λ(y − z)
  std::vector<PenaltyCopy<P>> copies;  // of a stencil; empty for the pair (y, z)
  Inner<P> centre;                     // scratch
  Vector<S> f_y, dense;                // scratch
  Vector<S> f_x;                       // scratch
  InnerSpace<P> space;                 // scratch

  PenaltyState(P& p, In<S> x0, In<S> y0)
      : x(x0),
        direction(Vector<S>::Zero(x0.size())),
        z(make(p, y0)),
        y(make(p, y0)),
        centre(make(p, y0)),
        f_y(y0.size()),
        dense(y0.size()),
        f_x(x0.size()),
        space(p) {}

  void make_copies(P& p, In<S> start, std::int64_t order, InnerSolver solver) {
    const Index size = solver == InnerSolver::gd ? 0 : start.size();
    for (const StencilPoint& point : stencil(order)) {
      const Vector<S> empty(size);
      copies.push_back({point.j, point.weight, make(p, start), make(p, start), empty, empty, empty, empty});
    }
  }
  [[nodiscard]] PenaltyCopy<P>& copy(int j) {
    for (PenaltyCopy<P>& c : copies)
      if (c.j == j) return c;
    return copies.back();
  }

  void fields(Archive& a) {
    a("t", t), a("lambda", lambda), a("next_lambda", next_lambda), a("step", step);
    a("x", x), a("direction", direction), a("outer", outer), a("z", z), a("y", y);
    for (PenaltyCopy<P>& c : copies) a("y_" + std::to_string(c.j), c.value);
  }

 private:
  static Inner<P> make(P& p, In<S> start) { return InnerSpace<P>(p).make(p, start); }
};

}  // namespace obolus
