// The outer set X: a small closed family of sets, each of which can project, test membership and bound a linear
// function.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "obolus/core/error.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/projection.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// One struct per set. `support(d)` is sup over u in the set of <d, u>, `max_norm(n)` is sup |u| in R^n.
namespace sets {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] inline double max_or_nan(double max, double value) {
  return value > max || std::isnan(value) ? value : max;
}

template <class S, class Test>
[[nodiscard]] bool all_of(In<S> x, Test&& test) {
  return std::all_of(x.data(), x.data() + x.size(), test);
}

struct All {
  static constexpr std::string_view name = "all";
  [[nodiscard]] bool bounded() const { return false; }
  template <class S>
  void project(Out<S>) const {}
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double) const {
    return all_of<S>(x, [](S value) { return !std::isnan(value); });
  }
  [[nodiscard]] double support(In<double> d) const {
    return all_of<double>(d, [](double v) { return v == 0.0; }) ? 0.0 : infinity;
  }
  [[nodiscard]] double max_norm(Index) const { return infinity; }
};

// A bound is the double rounded to S: rounding is monotone, so lower ≤ upper survives, and project and contains agree.
struct Box {
  static constexpr std::string_view name = "box";
  Vector<double> lower, upper;
  bool per_coordinate = false;  // otherwise lower and upper have one entry, a bound for all coordinates

  template <class S>
  [[nodiscard]] std::pair<S, S> bounds(Index i) const {
    const Index k = per_coordinate ? i : 0;
    return {static_cast<S>(lower(k)), static_cast<S>(upper(k))};
  }
  [[nodiscard]] bool bounded() const { return all_finite<double>(lower) && all_finite<double>(upper); }
  template <class S>
  void project(Out<S> x) const {
    S* const values = x.data();
    if (!per_coordinate) {
      const auto [min, max] = bounds<S>(0);
      for (Index i = 0; i < x.size(); ++i) values[i] = clamped(values[i], min, max);
      return;
    }
    for (Index i = 0; i < x.size(); ++i) {
      const auto [min, max] = bounds<S>(i);
      values[i] = clamped(values[i], min, max);
    }
  }
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    if (per_coordinate && x.size() != lower.size()) return false;
    for (Index i = 0; i < x.size(); ++i) {
      const auto [min, max] = bounds<S>(i);
      const double value = static_cast<double>(x(i));
      const bool above = value >= static_cast<double>(min) - tolerance;
      if (!above || !(value <= static_cast<double>(max) + tolerance)) return false;
    }
    return true;
  }
  [[nodiscard]] double support(In<double> d) const {
    double sum = 0.0;
    for (Index i = 0; i < d.size(); ++i)
      if (d(i) != 0.0) sum += d(i) * (d(i) > 0.0 ? bounds<double>(i).second : bounds<double>(i).first);  // 0 · ∞ is 0
    return sum;
  }
  [[nodiscard]] double max_norm(Index n) const {
    Vector<double> corner(lower.size());
    for (Index i = 0; i < corner.size(); ++i) corner(i) = std::max(std::abs(lower(i)), std::abs(upper(i)));
    return per_coordinate ? euclidean_norm<double>(corner) : corner(0) * std::sqrt(static_cast<double>(n));
  }
};

struct L2Ball {
  static constexpr std::string_view name = "l2_ball";
  double radius;
  [[nodiscard]] bool bounded() const { return true; }
  template <class S>
  void project(Out<S> x) const {
    project_l2_ball<S>(x, radius);
  }
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    return euclidean_norm<S>(x) <= radius + tolerance;
  }
  [[nodiscard]] double support(In<double> d) const { return radius * euclidean_norm<double>(d); }
  [[nodiscard]] double max_norm(Index) const { return radius; }
};

struct L1Ball {
  static constexpr std::string_view name = "l1_ball";
  double radius;
  [[nodiscard]] bool bounded() const { return true; }
  template <class S>
  void project(Out<S> x) const {
    project_l1_ball<S>(x, radius);
  }
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    return l1_norm<S>(x) <= radius + tolerance;
  }
  [[nodiscard]] double support(In<double> d) const {
    double max = 0.0;
    for (Index i = 0; i < d.size(); ++i) max = max_or_nan(max, std::abs(d(i)));
    return radius * max;
  }
  [[nodiscard]] double max_norm(Index) const { return radius; }
};

// Σx = 1, x ≥ 0. The sum cannot be exact in floating point: `contains` allows simplex_slack besides the tolerance.
struct Simplex {
  static constexpr std::string_view name = "simplex";
  [[nodiscard]] bool bounded() const { return true; }
  template <class S>
  void project(Out<S> x) const {
    project_simplex<S>(x);
  }
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    return in_simplex<S>(x, tolerance);
  }
  [[nodiscard]] double support(In<double> d) const {
    double max = -infinity;  // sup over the empty set
    for (Index i = 0; i < d.size(); ++i) max = max_or_nan(max, d(i));
    return max;
  }
  [[nodiscard]] double max_norm(Index) const { return 1.0; }
};

struct Nonnegative {
  static constexpr std::string_view name = "nonnegative";
  [[nodiscard]] bool bounded() const { return false; }
  template <class S>
  void project(Out<S> x) const {
    for (Index i = 0; i < x.size(); ++i) x(i) = x(i) < S(0) ? S(0) : x(i);
  }
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    return all_of<S>(x, [&](S value) { return static_cast<double>(value) >= -tolerance; });
  }
  [[nodiscard]] double support(In<double> d) const {
    return all_of<double>(d, [](double v) { return v <= 0.0; }) ? 0.0 : infinity;
  }
  [[nodiscard]] double max_norm(Index) const { return infinity; }
};

}  // namespace sets

class ConvexSet {
 public:
  [[nodiscard]] static ConvexSet all() { return ConvexSet(Kind::all); }
  // ±infinity where there is no bound.
  [[nodiscard]] static ConvexSet box(double lower, double upper) {
    sets::Box box{Vector<double>(1), Vector<double>(1), false};
    box.lower(0) = lower;
    box.upper(0) = upper;
    return checked_box(std::move(box));
  }
  [[nodiscard]] static ConvexSet box(Vector<double> lower, Vector<double> upper) {
    return checked_box({std::move(lower), std::move(upper), true});
  }
  [[nodiscard]] static ConvexSet l2_ball(double radius) {
    return ConvexSet(Kind::l2_ball, checked_radius(sets::L2Ball::name, radius));
  }
  [[nodiscard]] static ConvexSet l1_ball(double radius) {
    return ConvexSet(Kind::l1_ball, checked_radius(sets::L1Ball::name, radius));
  }
  [[nodiscard]] static ConvexSet simplex() { return ConvexSet(Kind::simplex); }
  [[nodiscard]] static ConvexSet nonnegative() { return ConvexSet(Kind::nonnegative); }

  // f(set) with the set's own struct, for what only some sets can do.
  template <class F>
  auto visit(F&& f) const {
    switch (kind_) {
      case Kind::box: return f(box_);
      case Kind::l2_ball: return f(sets::L2Ball{radius_});
      case Kind::l1_ball: return f(sets::L1Ball{radius_});
      case Kind::simplex: return f(sets::Simplex{});
      case Kind::nonnegative: return f(sets::Nonnegative{});
      case Kind::all: break;
    }
    return f(sets::All{});
  }

  // The nearest point of the set, in place and without allocation. A vector with a NaN keeps a NaN.
  template <class S>
  void project(Out<S> x) const {
    visit([&](const auto& set) { set.template project<S>(x); });
  }
  template <class V>
  void project(V&& x) const {
    project<typename std::remove_cvref_t<V>::Scalar>(Out<typename std::remove_cvref_t<V>::Scalar>(x));
  }

  // Whether each defining inequality holds up to `tolerance`, an absolute number. False for a NaN.
  template <class S>
  [[nodiscard]] bool contains(In<S> x, double tolerance) const {
    return visit([&](const auto& set) { return set.template contains<S>(x, tolerance); });
  }
  template <class V>
  [[nodiscard]] bool contains(const V& x, double tolerance) const {
    return contains<typename V::Scalar>(x, tolerance);
  }

  [[nodiscard]] double support(In<double> direction) const {
    return visit([&](const auto& set) { return set.support(direction); });
  }
  [[nodiscard]] double max_norm(Index d) const {
    return visit([&](const auto& set) { return set.max_norm(d); });
  }
  [[nodiscard]] bool bounded() const {
    return visit([](const auto& set) { return set.bounded(); });
  }
  [[nodiscard]] std::string_view name() const {
    return visit([](const auto& set) { return set.name; });
  }

  void check_dimension(Index d) const {
    if (kind_ == Kind::box && box_.per_coordinate && box_.lower.size() != d)
      throw ConfigError("set box: got bounds for " + std::to_string(box_.lower.size()) + " coordinates, expected " +
                        std::to_string(d) + ", the dimension of x");
    if (kind_ == Kind::simplex && d < 1)
      throw ConfigError("set simplex: got dimension " + std::to_string(d) + ", expected at least 1: the set is empty");
  }

 private:
  // A hand-written variant: std::variant and std::visit cost the README's example a tenth of its compilation.
  enum class Kind : std::uint8_t { all, box, l2_ball, l1_ball, simplex, nonnegative };
  explicit ConvexSet(Kind kind, double radius = 0.0) : kind_(kind), radius_(radius) {}
  explicit ConvexSet(sets::Box box) : kind_(Kind::box), box_(std::move(box)) {}

  static std::string text(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
  }

  static double checked_radius(std::string_view name, double radius) {
    if (radius > 0.0 && std::isfinite(radius)) return radius;
    throw ConfigError("set " + std::string(name) + ": got radius " + text(radius) + ", expected a finite number > 0");
  }

  static ConvexSet checked_box(sets::Box box) {
    if (box.lower.size() != box.upper.size())
      throw ConfigError("set box: got " + std::to_string(box.lower.size()) + " lower and " +
                        std::to_string(box.upper.size()) + " upper bounds, expected as many of each");
    for (Index i = 0; i < box.lower.size(); ++i) {
      const double lower = box.lower(i), upper = box.upper(i);
      if (lower <= upper && lower < sets::infinity && upper > -sets::infinity) continue;
      throw ConfigError("set box: got lower " + text(lower) + " and upper " + text(upper) +
                        (box.per_coordinate ? " at coordinate " + std::to_string(i) : std::string()) +
                        ", expected lower <= upper, neither NaN");
    }
    return ConvexSet(std::move(box));
  }

  Kind kind_;
  double radius_ = 0.0;
  sets::Box box_;  // empty for other kinds
};

}  // namespace obolus
