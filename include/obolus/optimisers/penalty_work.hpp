// What the inner iterates of a penalty method are worked on with: the problem at x_t, the round's numbers, and buffers.
#pragma once

#include <cstdint>

#include "obolus/core/inner.hpp"
#include "obolus/optimisers/penalty_options.hpp"

namespace obolus {

// Buffers. Nothing in them is read after the call that wrote it.
template <class P>
struct PenaltyScratch {
  using S = ScalarOf<P>;
  InnerSpace<P> space;
  Inner<P> point;        // a point, or the difference of two
  Vector<S> dense, f_y;  // a point densely; a gradient there
  Vector<S> x_gradient;

  PenaltyScratch(P& p, In<S> x0, In<S> y0)
      : space(p), point(space.make(p, y0)), dense(y0.size()), f_y(y0.size()), x_gradient(x0.size()) {}
};

template <class P>
struct PenaltyWork {
  P& p;
  const Vector<ScalarOf<P>>& x;
  const PenaltyRound& round;
  PenaltyScratch<P>& scratch;
  InnerSpace<P>& space;
  double& step;  // backtracking's step size, carried from round to round
};

// Inner iterations on the same functions.
struct Iterations {
  std::int64_t count;
  std::int64_t done = 0;  // earlier in this round
  bool fresh = false;     // the functions changed since the last one
};

}  // namespace obolus
