// The type of an inner iterate, and the numbers that its primitives take and return.
#pragma once

#include <concepts>
#include <cstdint>

#include "obolus/core/oracle.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

namespace detail {
template <class P>
struct InnerStorage {
  using type = Vector<ScalarOf<P>>;
};
template <class P>
  requires requires { typename P::Inner; }
struct InnerStorage<P> {
  using type = typename P::Inner;
};
}  // namespace detail

template <class P>
using Inner = typename detail::InnerStorage<P>::type;

// A problem with its own storage of inner iterates says how to make one and how to read and write it densely. Every
// primitive then works, if slowly, through the dense form.
template <class P>
concept OwnsInnerStorage = !std::same_as<Inner<P>, Vector<ScalarOf<P>>> &&
                           requires(P& p, Inner<P>& inner, In<ScalarOf<P>> in, Out<ScalarOf<P>> out) {
                             { p.make_inner() } -> std::same_as<Inner<P>>;
                             p.to_dense(inner, out);
                             p.from_dense(in, inner);
                           };

// Weights of f and g in a penalised inner problem: L = f·f_t + g·g_t, the paper's L_t for {1, λ_t}.
struct Penalty {
  double f = 1.0;
  double g = 1.0;
};

// Step sizes of a pair (z, w) with y = z + w/λ: α for z, β for y.
struct DualStep {
  double alpha;
  double beta;
  double lambda;
};

// Step sizes of a centred pair (c, w) with y_±1 = c ± w/λ: β for both.
struct CentralStep {
  double beta;
  double lambda;
};

// Step sizes of FSOBO's round: α for y, η for v.
struct SystemStep {
  double alpha;
  double eta;
};

struct Until {
  double tolerance;  // stop once the gradient's norm is at most this
  std::int64_t cap;  // or after this many steps
};

struct LoopResult {
  std::int64_t steps = 0;  // steps taken; the loop evaluated steps + 1 gradients
  double norm = 0.0;       // norm of the last gradient, at the returned point
  [[nodiscard]] bool reached(const Until& until) const { return norm <= until.tolerance; }
};

}  // namespace obolus
