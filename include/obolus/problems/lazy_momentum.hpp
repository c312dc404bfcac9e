// What SOGD stores on `softmax_l2`: y, v and their momenta, by feature in two rows each.
//
// Let r = d^y − x_i y_i be the momentum without its part from the penalty. A row that no document of a round touches
// has r ← (1 − η) r and y ← (1 − βx_i) y − βr: y, the y of the round before and r stay combinations of two rows A, E,
// and a round changes five numbers of the feature. A row that documents touch starts again with A = y, E = r. So for v.
#pragma once

#include "obolus/core/archive.hpp"
#include "obolus/problems/lazy_rows.hpp"

namespace obolus {

template <class S>
struct LazyMomentum {
  struct Side {
    LazyRows<S> base, drift;                   // A and E with their norms; r = drift.scale E
    AlignedNumbers<S> along;                   // y = base.scale A + along E
    AlignedNumbers<S> past_scale, past_along;  // the same of the round before

    void fields(Archive& a) {
      a("base", base);
      a("drift", drift);
      a("along", along);
      a("past_scale", past_scale);
      a("past_along", past_along);
    }
  };
  Side y, v;
  // Products of rows: y.base.pair = <A, P>, y.drift.pair = <E, P>, v.base.pair = <A, Q>, v.drift.pair = <E, Q>, where P
  // and Q are v's A and E, and
  AlignedNumbers<S> own;  // <P, Q>, for |v|

  void fields(Archive& a) {
    a("y", y);
    a("v", v);
    a("own", own);
  }
};

}  // namespace obolus
