// The oracles a problem may offer, by capability. A problem is any class with the right methods.
//
// A problem models a stream of rounds: `reveal(t)` makes (f_t, g_t) current, for any t ≥ 1 and in any order, and
// every other call refers to the current round. One sign convention everywhere:
//     g_yy v = f_y,     ∇F = f_x − g_xy v.
#pragma once

#include <concepts>

#include "obolus/core/rng.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

template <class P>
using ScalarOf = typename P::Scalar;

template <class P>
concept Stream = requires(P& p, Round t) { p.reveal(t); };

// f and g with their four gradients: all that the first-order family needs.
template <class P>
concept FirstOrderOracle =
    requires(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Out<ScalarOf<P>> gx, Out<ScalarOf<P>> gy) {
      { p.dims() } -> std::convertible_to<Dims>;
      { p.outer_value(x, y) } -> std::convertible_to<double>;
      { p.inner_value(x, y) } -> std::convertible_to<double>;
      p.outer_gradient_x(x, y, gx);  // f_x
      p.outer_gradient_y(x, y, gy);  // f_y
      p.inner_gradient_x(x, y, gx);  // g_x
      p.inner_gradient_y(x, y, gy);  // g_y
    };

// Second-order products of g, for the baselines and for reference hypergradients.
template <class P>
concept HvpOracle = FirstOrderOracle<P> && requires(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, In<ScalarOf<P>> v,
                                                    Out<ScalarOf<P>> gx, Out<ScalarOf<P>> gy) {
  p.inner_hvp_yy(x, y, v, gy);  // g_yy v, in R^d2
  p.inner_hvp_xy(x, y, v, gx);  // g_xy v, in R^d1
};

// Sample sizes of a stochastic gradient of f and of g.
struct SampleSizes {
  std::int64_t outer = 1;  // ξ
  std::int64_t inner = 1;  // ζ
};

// Gradients may be taken on samples: after `resample` every gradient uses the drawn ξ and ζ (the same at every
// point), until the next `resample`, `expectation` or `reveal`. After `reveal` the functions are the expected ones.
template <class P>
concept StochasticOracle = FirstOrderOracle<P> && requires(P& p, SampleSizes sizes, Rng& rng) {
  p.resample(sizes, rng);
  p.expectation();
};

// A problem that has a natural (x_1, y_1) of its own; otherwise both are 0 unless a config gives them.
template <class P>
concept Starts = FirstOrderOracle<P> && requires(P& p, Out<ScalarOf<P>> x, Out<ScalarOf<P>> y) { p.start(x, y); };

// y*_t(x) is known. For metrics and tests only: no optimiser may ask.
template <class P>
concept ClosedFormOracle =
    FirstOrderOracle<P> && requires(P& p, In<ScalarOf<P>> x, Out<ScalarOf<P>> y) { p.inner_solution(x, y); };

// Differences of g's gradients between z + δ and z in a form that does not cancel. F²OBO multiplies such a difference
// by λ_t, which reaches 50,000 in the paper's text experiment: subtracting two gradients in float then loses a fifth
// of x.
template <class P>
concept DifferenceOracle =
    FirstOrderOracle<P> && requires(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> z, In<ScalarOf<P>> delta,
                                    Out<ScalarOf<P>> gx, Out<ScalarOf<P>> gy) {
      p.inner_gradient_x_difference(x, z, delta, gx);  // g_x(x, z + δ) − g_x(x, z)
      p.inner_gradient_y_difference(x, z, delta, gy);  // g_y(x, z + δ) − g_y(x, z)
    };

}  // namespace obolus
