// What a problem offers beyond the four gradients. The type decides, unless the type speaks for many problems (the
// erased layer): then the problem itself is asked.
#pragma once

#include <concepts>

#include "obolus/core/oracle.hpp"

namespace obolus {

struct Capabilities {
  bool hvp = false;
  bool stochastic = false;
  bool closed_form = false;
  bool difference = false;
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

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
            .difference = DifferenceOracle<P>};
  }
}

}  // namespace obolus
