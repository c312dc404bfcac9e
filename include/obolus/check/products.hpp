// Second-order products and differences of g's gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "obolus/check/difference.hpp"
#include "obolus/check/gradients.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::checks {

template <HvpOracle P>
void check_products(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options, Rng& rng) {
  using S = ScalarOf<P>;
  const Dims dims = p.dims();
  const Vector<S> v = unit_direction<S>(dims.y, rng);
  check_call<S>(report, "g_yy v", place, dims.y, [&](Vector<S>& d) { p.inner_hvp_yy(place.x, place.y, v, d); });
  check_call<S>(report, "g_xy v", place, dims.x, [&](Vector<S>& d) { p.inner_hvp_xy(place.x, place.y, v, d); });
  Vector<S> in_x(dims.x), in_y(dims.y);
  const auto judge = [&](const char* what, const Vector<S>& u, const std::string& along, const VectorFunction<S>& value,
                         const VectorFunction<S>& slope) {
    const Comparison c = compare_derivative<S>(place.y, u, 0.1 * options.radius, value, slope);
    report.record(what, c.error, options.slack * difference_rounding<S>() * c.scale, place.name + ", " + along);
  };
  const auto g_y = [&](const Vector<S>& at) -> Vector<double> {
    p.inner_gradient_y(place.x, at, in_y);
    return in_y.template cast<double>();
  };
  const auto g_x = [&](const Vector<S>& at) -> Vector<double> {
    p.inner_gradient_x(place.x, at, in_x);
    return in_x.template cast<double>();
  };
  const auto g_yy = [&](const Vector<S>& shift) -> Vector<double> {
    p.inner_hvp_yy(place.x, place.y, shift, in_y);
    return in_y.template cast<double>();
  };
  const auto g_xy = [&](const Vector<S>& shift) -> Vector<double> {
    p.inner_hvp_xy(place.x, place.y, shift, in_x);
    return in_x.template cast<double>();
  };
  along_directions<S>(dims.y, options.directions, rng, [&](const Vector<S>& u, const std::string& along) {
    judge("g_yy v against differences of g_y", u, along, g_y, g_yy);
    judge("g_xy v against differences of g_x", u, along, g_x, g_xy);
  });
}

// <u, g_yy v> = <v, g_yy u>
template <HvpOracle P>
void check_symmetry(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options, Rng& rng) {
  using S = ScalarOf<P>;
  const Index size = p.dims().y;
  Vector<S> Hu(size), Hv(size);
  for (int i = 0; i < options.directions; ++i) {
    const Vector<S> u = unit_direction<S>(size, rng), v = unit_direction<S>(size, rng);
    p.inner_hvp_yy(place.x, place.y, u, Hu);
    p.inner_hvp_yy(place.x, place.y, v, Hv);
    const double error = std::abs(inner_product<S>(u, Hv) - inner_product<S>(v, Hu));
    const double scale = euclidean_norm<S>(Hu) + euclidean_norm<S>(Hv);
    report.record("g_yy is symmetric", error, options.slack * rounding<S>(size) * scale, place.name);
  }
}

// One of the two difference calls and the gradient it stands for.
template <class P>
struct DifferenceCall {
  using S = ScalarOf<P>;
  std::string name;
  Index size;
  void (*difference)(P&, In<S> x, In<S> z, In<S> delta, Out<S> out);
  void (*gradient)(P&, In<S> x, In<S> y, Out<S> out);
};

// The maximum over several directions is the scale: one answer may be small because terms cancel; its rounding is not.
inline constexpr int difference_directions = 4;

// At a long δ: equal to the gradients subtracted, up to the rounding of those. The z + δ handed to the gradient is
// itself rounded, which moves the gradient by ε|z + δ| times its slope.
template <DifferenceOracle P>
void check_long_difference(CheckReport& report, P& p, const DifferenceCall<P>& call, const Place<ScalarOf<P>>& place,
                           const CheckOptions& options, Rng& rng) {
  using S = ScalarOf<P>;
  Vector<S> difference(call.size), high(call.size), low(call.size);
  call.gradient(p, place.x, place.y, low);
  double error = 0.0, sizes = euclidean_norm<S>(low), slope = 0.0;
  for (int i = 0; i < difference_directions; ++i) {
    const Vector<S> delta = S(options.radius) * unit_direction<S>(place.y.size(), rng), moved = place.y + delta;
    call.difference(p, place.x, place.y, delta, difference);
    call.gradient(p, place.x, moved, high);
    slope = std::max(slope, euclidean_norm<S>(difference) / options.radius);
    sizes = std::max(sizes, euclidean_norm<S>(high));
    high -= low + difference;
    error = worse(error, euclidean_norm<S>(high));
  }
  const double moved_size = euclidean_norm<S>(place.y) + options.radius;
  report.record(call.name + " equals the gradients subtracted", error,
                options.slack * rounding<S>(place.x.size() + place.y.size()) * (2.0 * sizes + slope * moved_size),
                place.name);
}

// At a δ far below the rounding of z: still g_yy δ or g_xy δ, to rounding. Subtracted gradients would give 0 or noise.
// The second-order term is |δ| ≈ ε^(3/2) times the curvature's slope and does not show. Where products are themselves
// differences (`exact` is false), their error is ε^(2/3) of the gradient's size.
template <DifferenceOracle P, class Product>
void check_tiny_difference(CheckReport& report, P& p, const DifferenceCall<P>& call, const Place<ScalarOf<P>>& place,
                           const CheckOptions& options, Rng& rng, bool exact, Product&& product) {
  using S = ScalarOf<P>;
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const double length = std::pow(epsilon, 1.5) * std::max(1.0, euclidean_norm<S>(place.y));
  Vector<S> difference(call.size), derivative(call.size);
  double error = 0.0, slope = 0.0;
  for (int i = 0; i < difference_directions; ++i) {
    const Vector<S> unit = unit_direction<S>(place.y.size(), rng), delta = S(length) * unit;
    call.difference(p, place.x, place.y, delta, difference);
    product(unit, derivative);
    const Vector<double> gap = difference.template cast<double>() / length - derivative.template cast<double>();
    error = worse(error, gap.norm());
    slope = std::max(slope, euclidean_norm<S>(derivative));
  }
  double tolerance = rounding<S>(place.x.size() + place.y.size()) * slope;
  if (!exact) {
    call.gradient(p, place.x, place.y, difference);
    tolerance = difference_rounding<S>() * (slope + euclidean_norm<S>(difference));
  }
  report.record(call.name + " does not cancel at a tiny δ", error, options.slack * tolerance, place.name);
}

template <DifferenceOracle P>
void check_differences(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                       Rng& rng) {
  using S = ScalarOf<P>;
  const Dims dims = p.dims();
  const DifferenceCall<P> in_x{
      "g_x(z + δ) − g_x(z)", dims.x,
      [](P& q, In<S> x, In<S> z, In<S> delta, Out<S> d) { q.inner_gradient_x_difference(x, z, delta, d); },
      [](P& q, In<S> x, In<S> y, Out<S> d) { q.inner_gradient_x(x, y, d); }};
  const DifferenceCall<P> in_y{
      "g_y(z + δ) − g_y(z)", dims.y,
      [](P& q, In<S> x, In<S> z, In<S> delta, Out<S> d) { q.inner_gradient_y_difference(x, z, delta, d); },
      [](P& q, In<S> x, In<S> y, Out<S> d) { q.inner_gradient_y(x, y, d); }};
  for (const DifferenceCall<P>* call : {&in_x, &in_y}) {
    const Vector<S> delta = unit_direction<S>(dims.y, rng);
    check_call<S>(report, call->name, place, call->size,
                  [&](Vector<S>& d) { call->difference(p, place.x, place.y, delta, d); });
    check_long_difference(report, p, *call, place, options, rng);
    with_products(p, [&](auto& q, bool exact) {
      check_tiny_difference(report, p, *call, place, options, rng, exact, [&](const Vector<S>& v, Vector<S>& d) {
        if (call == &in_x) q.inner_hvp_xy(place.x, place.y, v, d);
        else q.inner_hvp_yy(place.x, place.y, v, d);
      });
    });
  }
}

}  // namespace obolus::checks
