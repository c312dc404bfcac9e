// What a problem offers beyond the four gradients. The type decides, unless it stands for many problems (the erased
// layer): then the problem itself answers.
#pragma once

#include <concepts>

#include "obolus/core/oracle.hpp"

namespace obolus {

struct Capabilities {
  bool hvp = false;
  bool stochastic = false;
  bool closed_form = false;
  bool difference = false;
  bool convex = true;  // g is strongly convex in y, as the theory asks; a problem that is not says `convex = false`
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

namespace detail {
template <class P>
[[nodiscard]] constexpr bool says_convex() {
  if constexpr (requires {
                  { P::convex } -> std::convertible_to<bool>;
                })
    return P::convex;
  else return true;
}
}  // namespace detail

template <FirstOrderOracle P>
[[nodiscard]] constexpr Capabilities capabilities_of([[maybe_unused]] P& p) {
  if constexpr (requires {
                  { p.capabilities() } -> std::convertible_to<Capabilities>;
                }) {
    return p.capabilities();
  } else {
    return {.hvp = HvpOracle<P>,
            .stochastic = StochasticOracle<P>,
            .closed_form = ClosedFormOracle<P>,
            .difference = DifferenceOracle<P>,
            .convex = detail::says_convex<P>()};
  }
}

}  // namespace obolus
