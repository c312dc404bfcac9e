// Penalties of order p. With ν = 1/λ and y_s(x) = argmin_y g + s f, the hypergradient is the derivative of
// ∇_x(g + s f)(x, y_s) in s at 0. F²OBO is its forward difference, with a bias of O(1/λ); a stencil {j: a_j} of order p
// gives
//     d = Σ_j a_j [ j ∇_x f(x, y_{jν}) + λ ∇_x g(x, y_{jν}) ],     bias O(λ^−p)
// (Chen et al. 2025, F²SA-p, for the offline problem). Needs g − |j|ν f strongly convex: λ > 2 |j| L_f1/μ_g.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace obolus {

struct StencilPoint {
  int j;
  double weight;  // a_j
};

namespace stencils {
inline constexpr std::array<StencilPoint, 2> first{{{0, -1.0}, {1, 1.0}}};
inline constexpr std::array<StencilPoint, 2> second{{{-1, -0.5}, {1, 0.5}}};
inline constexpr std::array<StencilPoint, 4> third{{{0, -0.5}, {-1, -1.0 / 3.0}, {1, 1.0}, {2, -1.0 / 6.0}}};
inline constexpr std::array<StencilPoint, 4> fourth{
    {{-2, 1.0 / 12.0}, {-1, -2.0 / 3.0}, {1, 2.0 / 3.0}, {2, -1.0 / 12.0}}};
inline constexpr std::array<StencilPoint, 6> fifth{
    {{0, -1.0 / 3.0}, {-2, 1.0 / 20.0}, {-1, -0.5}, {1, 1.0}, {2, -0.25}, {3, 1.0 / 30.0}}};
}  // namespace stencils

// The plain iterate, j = 0, first where there is one, then in order of j. Orders 1 … 5.
[[nodiscard]] constexpr std::span<const StencilPoint> stencil(std::int64_t order) {
  switch (order) {
    case 2: return stencils::second;
    case 3: return stencils::third;
    case 4: return stencils::fourth;
    case 5: return stencils::fifth;
    default: return stencils::first;
  }
}

// Odd orders keep z, the solution of g itself; for even ones the mean of y_1 and y_−1 approximates it, to O(λ^−2).
[[nodiscard]] constexpr bool has_plain_iterate(std::int64_t order) { return order % 2 == 1; }

}  // namespace obolus
