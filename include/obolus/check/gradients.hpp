// The four gradients, against differences of the values; and that calls behave.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "obolus/check/difference.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::checks {

template <class P>
struct Gradient {
  using S = ScalarOf<P>;
  std::string_view name, of;
  bool in_x;
  double (*value)(P&, In<S> x, In<S> y);
  void (*ask)(P&, In<S> x, In<S> y, Out<S> out);
};

template <class P>
inline constexpr std::array<Gradient<P>, 4> gradients{{
    {"f_x", "f", true, [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y) -> double { return p.outer_value(x, y); },
     [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Out<ScalarOf<P>> d) { p.outer_gradient_x(x, y, d); }},
    {"f_y", "f", false, [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y) -> double { return p.outer_value(x, y); },
     [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Out<ScalarOf<P>> d) { p.outer_gradient_y(x, y, d); }},
    {"g_x", "g", true, [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y) -> double { return p.inner_value(x, y); },
     [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Out<ScalarOf<P>> d) { p.inner_gradient_x(x, y, d); }},
    {"g_y", "g", false, [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y) -> double { return p.inner_value(x, y); },
     [](P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Out<ScalarOf<P>> d) { p.inner_gradient_y(x, y, d); }},
}};

template <class S>
[[nodiscard]] bool same_bits(const Vector<S>& a, const Vector<S>& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(S) * to_size(a.size())) == 0);
}

// A call that fills a vector. It is made twice, into NaN and into large numbers, which reveals entries that it adds to
// or leaves out.
template <class S>
void check_call(CheckReport& report, std::string_view name, const Place<S>& place, Index size,
                const std::function<void(Vector<S>&)>& call) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the call may write through its const inputs
  const Place<S> before = place;
  Vector<S> first = Vector<S>::Constant(size, std::numeric_limits<S>::quiet_NaN());
  Vector<S> second = Vector<S>::Constant(size, S(1e30));
  call(first);
  call(second);
  Index wrong = 0, example = 0;
  for (Index i = 0; i < size; ++i) {
    if (std::isfinite(first(i)) && second(i) != S(1e30)) continue;
    if (wrong++ == 0) example = i;
  }
  const std::string where = std::string(name) + ", " + place.name;
  report.record("every call fills its output with finite numbers", static_cast<double>(wrong), 0.0,
                wrong > 0 ? where + ", coordinate " + std::to_string(example) : where);
  const bool untouched = same_bits(place.x, before.x) && same_bits(place.y, before.y);
  report.record("every call leaves its inputs alone", untouched ? 0.0 : 1.0, 0.0, where);
  if (wrong == 0) report.record("every call answers the same twice", same_bits(first, second) ? 0.0 : 1.0, 0.0, where);
}

// Visits `directions` random unit vectors, then up to 16 single coordinates, which tell which one is wrong.
template <class S>
void along_directions(Index size, int directions, Rng& rng,
                      const std::function<void(const Vector<S>&, const std::string&)>& visit) {
  for (int i = 0; i < directions; ++i) visit(unit_direction<S>(size, rng), std::string("a random direction"));
  const Index max = std::min<Index>(size, 16);
  for (Index i = 0; i < max; ++i) {
    const Index k = size <= 16 ? i : static_cast<Index>(rng.below(static_cast<std::uint64_t>(size)));
    visit(Vector<S>(Vector<S>::Unit(size, k)), "coordinate " + std::to_string(k));
  }
}

template <FirstOrderOracle P>
void check_gradients(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                     Rng& rng) {
  using S = ScalarOf<P>;
  const Dims dims = p.dims();
  for (const Gradient<P>& g : gradients<P>) {
    const Index size = g.in_x ? dims.x : dims.y;
    check_call<S>(report, g.name, place, size, [&](Vector<S>& out) { g.ask(p, place.x, place.y, out); });
    Vector<S> gradient = Vector<S>::Zero(size);
    g.ask(p, place.x, place.y, gradient);
    const auto value = [&](const Vector<S>& at) {
      return Vector<double>::Constant(1, g.in_x ? g.value(p, at, place.y) : g.value(p, place.x, at)).eval();
    };
    const auto slope = [&](const Vector<S>& shift) {
      return Vector<double>::Constant(1, inner_product<S>(gradient, shift)).eval();
    };
    along_directions<S>(size, options.directions, rng, [&](const Vector<S>& u, const std::string& along) {
      const Comparison c = compare_derivative<S>(g.in_x ? place.x : place.y, u, 0.1 * options.radius, value, slope);
      report.record(std::string(g.name) + " against differences of " + std::string(g.of), c.error,
                    options.slack * difference_rounding<S>() * c.scale, place.name + ", " + along);
    });
  }
}

}  // namespace obolus::checks
