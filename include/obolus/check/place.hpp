// Where a problem is checked, and how exact its answers can be.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

struct CheckOptions {
  std::vector<Round> rounds = {1, 2, 3};  // rounds visited, where the problem is a stream
  int points = 3;                         // places (x, y) in each round
  int directions = 3;                     // random directions at a place, beside single coordinates
  Vector<double> x = {}, y = {};          // middle of the places; empty: 0
  double radius = 1.0;                    // their typical distance from it
  ConvexSet domain = ConvexSet::all();    // x is projected onto it; differences step out of it by at most radius / 10
  int draws = 2000;                       // samples behind a mean, where the problem is stochastic
  double slack = 1.0;                     // multiplies every tolerance; they are derived for arithmetic in Scalar
};

namespace checks {

// The rounding of a sum of n terms is a random walk of standard deviation √n ε / 2; allowed are eight deviations, and a
// little more for short sums.
template <class S>
[[nodiscard]] double rounding(Index n) {
  return 4.0 * (2.0 + std::sqrt(static_cast<double>(n))) * static_cast<double>(std::numeric_limits<S>::epsilon());
}

// What central differences with their best step leave: rounding ε/h against truncation h², equal at h = ε^(1/3). Both
// ends of a difference are rounded, and an extrapolation is charged with its own estimate of error as well.
template <class S>
[[nodiscard]] double difference_rounding() {
  return 4.0 * std::pow(static_cast<double>(std::numeric_limits<S>::epsilon()), 2.0 / 3.0);
}

// The larger of two errors; a NaN is larger than any number.
[[nodiscard]] inline double worse(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

template <class S>
struct Place {
  Vector<S> x, y;
  Round round = 1;
  std::string name;  // "round 2, point 1"
};

template <class S>
[[nodiscard]] Vector<S> random_near(const Vector<double>& centre, Index size, double radius, Rng& rng) {
  Vector<double> v(size);
  rng.fill_normal(v);
  v *= radius / std::sqrt(static_cast<double>(size));
  if (centre.size() > 0) v += centre;
  return v.template cast<S>();
}

template <class S>
[[nodiscard]] Vector<S> unit_direction(Index size, Rng& rng) {
  Vector<double> v(size);
  rng.fill_normal(v);
  return (v / v.norm()).template cast<S>();
}

template <class S>
[[nodiscard]] Vector<S> random_x(Dims dims, const CheckOptions& options, Rng& rng) {
  Vector<S> x = random_near<S>(options.x, dims.x, options.radius, rng);
  options.domain.template project<S>(x);
  return x;
}

// Whether `reveal` means anything to this problem.
template <FirstOrderOracle P>
[[nodiscard]] constexpr bool is_stream([[maybe_unused]] const P& p) {
  if constexpr (requires { p.is_stream(); }) return p.is_stream();
  else return Stream<P>;
}

// visit(place, rng) at every place of every round, with the round revealed.
template <FirstOrderOracle P, class Visit>
void at_places(P& p, const CheckOptions& options, const Rng& rng, Visit&& visit) {
  using S = ScalarOf<P>;
  const Dims dims = p.dims();
  const bool stream = is_stream(p);
  const std::vector<Round> rounds = stream ? options.rounds : std::vector<Round>{1};
  for (const Round t : rounds) {
    if constexpr (Stream<P>) p.reveal(t);
    for (int i = 0; i < options.points; ++i) {
      Rng own = rng.child("place", static_cast<std::uint64_t>(t)).child("point", static_cast<std::uint64_t>(i));
      Place<S> place;
      place.x = random_x<S>(dims, options, own);
      place.y = random_near<S>(options.y, dims.y, options.radius, own);
      place.round = t;
      place.name = (stream ? "round " + std::to_string(t) + ", " : std::string()) + "point " + std::to_string(i + 1);
      visit(place, own);
    }
  }
}

}  // namespace checks
}  // namespace obolus
