// The state of a penalty method: x, λ, and the inner iterates in one of their forms.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "obolus/core/archive.hpp"
#include "obolus/core/outer_step.hpp"
#include "obolus/optimisers/penalty_pairs.hpp"
#include "obolus/optimisers/stencil_iterates.hpp"

namespace obolus {

// The forms that options can ask for. Methods without the option `order` have no use for the central pair; Algorithm 2
// ends the loop of each iterate by itself, which the central pair cannot.
template <class P, class Options>
using PenaltyIterates = std::conditional_t<!has_order<Options> || is_adaptive<Options>,
                                           std::variant<PlainPair<P>, DualPair<P>, StencilIterates<P>>,
                                           std::variant<PlainPair<P>, DualPair<P>, CentralPair<P>, StencilIterates<P>>>;

template <class P, class Options>
struct PenaltyState {
  using S = ScalarOf<P>;
  Round t = 0;               // rounds done
  double lambda = 1.0;       // λ of the last round
  double next_lambda = 1.0;  // λ of the round to come, where a rule computes it from the last
  double step = 0.0;         // backtracking's step size
  Vector<S> x;               // committed for the round to come
  Vector<S> direction;       // d of the last round
  OuterMemory<S> outer;
  PenaltyIterates<P, Options> inner;
  PenaltyScratch<P> scratch;

  // Order 1 or 2 with plain steps fits in a pair, order 2 only if w is kept. Every other order or solver works on the
  // iterates of a stencil.
  PenaltyState(P& p, In<S> x0, In<S> y0, const Options& o)
      : x(x0), direction(Vector<S>::Zero(x0.size())), inner(choose(p, y0, o)), scratch(p, x0, y0) {}

  void fields(Archive& a) {
    a("t", t);
    a("lambda", lambda);
    a("next_lambda", next_lambda);
    a("step", step);
    a("x", x);
    a("direction", direction);
    a("outer", outer);
    std::visit([&](auto& form) { form.fields(a); }, inner);
  }

 private:
  static PenaltyIterates<P, Options> choose(P& p, In<S> y0, const Options& o) {
    InnerSpace<P> space(p);
    const bool keeps_w = o.warm_start == WarmStart::dual;
    if constexpr (has_order<Options>) {
      const bool plain_steps = o.inner_solver == InnerSolver::gd && o.inner.plain();
      if constexpr (!is_adaptive<Options>)
        if (plain_steps && o.order == 2 && keeps_w) return CentralPair<P>(p, y0, space);
      if (!plain_steps || o.order != 1)
        return StencilIterates<P>(p, y0, space, o.order, {o.inner_solver, o.alpha(1), o.inner});
    } else if (!o.inner.plain()) {
      return StencilIterates<P>(p, y0, space, 1, {InnerSolver::gd, o.alpha(1), o.inner});
    }
    if (keeps_w) return DualPair<P>(p, y0, space);
    return PlainPair<P>(p, y0, space);
  }
};

}  // namespace obolus
