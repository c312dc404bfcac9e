// Checks the projection of any set with project(Out<S>) and contains(In<S>, tolerance).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "obolus/check/place.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

namespace checks {

// Points of every size around the origin: inside most sets, near their boundary, and far out; some with many zeros and
// ties.
template <class S>
[[nodiscard]] Vector<S> point_for_set(Index dimension, int number, Rng& rng) {
  constexpr double sizes[] = {1e-3, 0.3, 1.0, 3.0, 30.0, 1e4};
  Vector<double> v(dimension);
  rng.fill_normal(v);
  v *= sizes[number % 6];
  if (number % 4 == 3) v = v.array().round();
  return v.template cast<S>();
}

template <class S, class Set>
void check_projection(CheckReport& report, const Set& set, const Vector<S>& a, const Vector<S>& b,
                      const std::string& where) {
  const auto projected = [&](Vector<S> v) {
    set.project(Out<S>(v));
    return v;
  };
  const auto length = [](const Vector<S>& v) { return euclidean_norm<S>(v); };
  const Vector<S> pa = projected(a), pb = projected(b);
  const Vector<S> removed = a - pa, across = pb - pa, apart = a - b, again = projected(pa) - pa;
  // Entries of a point and of its projection are rounded, and so is the shift between them: by ε of the larger.
  const double size = rounding<S>(a.size()) * std::max({length(a), length(b), length(pa), length(pb)});
  report.record("a projected point is in the set", set.contains(pa, size) ? 0.0 : 1.0, 0.0, where);
  report.record("projecting twice is projecting once", length(again), size, where);
  report.record("a projection does not expand", length(across) - length(apart), size, where);
  // <a − Pa, u − Pa> ≤ 0 for every u in the set; here u = Pb
  report.record("what a projection removes points away from the set", inner_product<S>(removed, across),
                size * (length(removed) + length(across)), where);
  const bool kept = !set.contains(a, 0.0) || length(removed) <= size;
  report.record("a point of the set stays where it is", kept ? 0.0 : length(removed), 0.0, where);
}

}  // namespace checks

template <class S = double, class Set>
[[nodiscard]] CheckReport check_set(const Set& set, Index dimension, const Rng& rng = Rng(1), int pairs = 200) {
  CheckReport report;
  for (int i = 0; i < pairs; ++i) {
    Rng own = rng.child("pair", static_cast<std::uint64_t>(i));
    const Vector<S> a = checks::point_for_set<S>(dimension, i, own);
    const Vector<S> b = checks::point_for_set<S>(dimension, i / 6, own);
    checks::check_projection<S>(report, set, a, b, "pair " + std::to_string(i + 1));
  }
  return report;
}

}  // namespace obolus
