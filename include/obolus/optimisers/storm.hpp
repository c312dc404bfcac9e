// Momentum of the STORM kind (Cutkosky, Orabona 2019) for terms that are asked for together,
//     d_t = D(u_t) + (1 − η_t)(d_{t−1} − D(u_{t−1})),   d_1 = D(u_1),
// both D with the current functions and the same sample.
#pragma once

#include <initializer_list>

#include "obolus/core/types.hpp"

namespace obolus {

template <class S>
struct StormTerm {
  Vector<S>& d;          // 0 before the first round
  const Vector<S>& raw;  // where D is put
  double eta;
};

// `ask_before` puts D(u_{t−1}) into the terms' `raw`, `ask_now` D(u_t).
template <class S, class AskBefore, class AskNow>
void storm(Round t, std::initializer_list<StormTerm<S>> terms, AskBefore&& ask_before, AskNow&& ask_now) {
  if (t > 1) {
    ask_before();
    for (const StormTerm<S>& term : terms) term.d = S(1.0 - term.eta) * (term.d - term.raw);
  }
  ask_now();
  for (const StormTerm<S>& term : terms) term.d += term.raw;
}

}  // namespace obolus
