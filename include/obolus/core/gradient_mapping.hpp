// The gradient mapping G_X, whose squared norms add up to the bilevel local regret.
#pragma once

#include "obolus/core/convex_set.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// |G_X(x, d, γ)|² with eq. (3), §2.3:
//     G_X(x, d, γ) = (x − argmin_{u ∈ X} {<d, u> + |u − x|² / (2γ)}) / γ = (x − Proj_X(x − γd)) / γ,     γ > 0.
// `scratch` has the size of x and ends as Proj_X(x − γd).
//
// A coordinate that the projection does not move counts as d_i. Subtracting x − γd from x would lose |x_i| ε / (γ|d_i|)
// of it: a tenth for floats with x = 1, γ = 1e-3, d = 1e-3. On the whole space the result is |d|² for any γ.
template <class S>
[[nodiscard]] double gradient_mapping_squared(const ConvexSet& set, In<S> x, In<S> direction, double gamma,
                                              Out<S> scratch) {
  const auto stepped = [&](Index i) {
    return static_cast<S>(static_cast<double>(x(i)) - gamma * static_cast<double>(direction(i)));
  };
  for (Index i = 0; i < x.size(); ++i) scratch(i) = stepped(i);
  set.project<S>(scratch);
  double sum = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    const bool moved = scratch(i) != stepped(i);
    const double g = moved ? (static_cast<double>(x(i)) - static_cast<double>(scratch(i))) / gamma
                           : static_cast<double>(direction(i));
    sum += g * g;
  }
  return sum;
}

}  // namespace obolus
