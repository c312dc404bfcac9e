// What a problem may do at once for a method whose rounds the primitives of `InnerSpace` do not cover. There is no
// default here: where a problem has none of its own, the method works on dense vectors. Both must agree to rounding.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner_storage.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/status.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// p.unroll(x, y, alpha, steps, h): K steps y ← y − α g_y(x, y), then h = the total derivative of f through them
// (optimisers/unrolled.hpp), all on the same functions.
template <class P>
concept Unrolls =
    requires(P& p, In<ScalarOf<P>> x, Inner<P>& y, Out<ScalarOf<P>> h) { p.unroll(x, y, 0.1, std::int64_t{1}, h); };

// A round of SOGD (optimisers/sogd.hpp): step sizes, and what d keeps of the past, 1 − η_t, by variable.
struct MomentumStep {
  double y_step, v_step;
  double keep_y, keep_v;
  std::optional<double> radius;  // of v
  bool first;                    // nothing past to keep
};

// u_{t−1} and d_{t−1}, of which y_t = y − y_step d_y and v_t = v_scale (v − v_step d_v).
template <class S>
struct DenseMomentum {
  const Vector<S>&x, &y, &v, &d_y, &d_v;
  double y_step, v_step, v_scale;
};

// A problem that stores y, v and their momenta itself, as P::Momentum.
template <class P>
concept HoldsMomentum = requires(P& p, typename P::Momentum& m, const DenseMomentum<ScalarOf<P>>& from,
                                 In<ScalarOf<P>> x, Out<ScalarOf<P>> out) {
  { p.make_momentum() } -> std::same_as<typename P::Momentum>;
  p.momentum_from_dense(from, m);
  p.momentum_y(m, out);                                                            // y_t
  { p.momentum_round(x, m, MomentumStep{}, out) } -> std::convertible_to<Status>;  // out: d^x of the round
};

namespace detail {
struct NoMomentum {
  void fields(Archive&) {}
};
template <class P>
struct MomentumStorage {
  using type = NoMomentum;
};
template <HoldsMomentum P>
struct MomentumStorage<P> {
  using type = typename P::Momentum;
};
}  // namespace detail
template <class P>
using Momentum = typename detail::MomentumStorage<P>::type;

// An adaptor of problems offers both, and says whether the problem behind it does.
template <class P>
[[nodiscard]] bool unrolls(const P& p) {
  if constexpr (requires { p.unrolls(); }) return p.unrolls();
  else return Unrolls<P>;
}
template <class P>
[[nodiscard]] bool holds_momentum(const P& p) {
  if constexpr (requires { p.holds_momentum(); }) return p.holds_momentum();
  else return HoldsMomentum<P>;
}

}  // namespace obolus
