// `softmax_l2` and its dense form side by side over rounds: the same primitives on the same batches, x moved by the
// direction of each and clipped to a box.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/inner.hpp"
#include "obolus/problems/softmax_l2.hpp"

namespace obolus::test {

enum class Walk { pair, dual, central, alone };  // alone: descend and descend_penalised, one after the other
inline constexpr Walk walks[] = {Walk::pair, Walk::dual, Walk::central, Walk::alone};
inline std::string name_of(Walk walk) {
  constexpr const char* names[] = {"pair", "dual", "central", "alone"};
  return names[static_cast<std::size_t>(walk)];
}

struct Course {
  Walk walk = Walk::pair;
  Round rounds = 2000;
  std::int64_t steps = 5;
  bool drawn = false;               // new samples before every step, else the round's batch
  double alpha = 0.3, ratio = 1.0;  // β = ratio · α/λ
  double gamma = 5e-4;
  std::function<double(Round)> lambda = [](Round) { return 100.0; };
  double low = 0.0, high = 0.1, start = 0.02;  // the box of x, and x_1
};

// One side: two iterates and x.
template <class P>
struct Walker {
  using S = ScalarOf<P>;
  P problem;
  InnerSpace<P> space;
  Vector<S> x, d;
  Inner<P> a, b;  // y and z, z and w, or c and w

  Walker(const SoftmaxOptions& options, std::uint64_t seed, double start)
      : problem(options, seed),
        space(problem),
        x(Vector<S>::Constant(problem.dims().x, S(start))),
        d(Vector<S>::Zero(x.size())),
        a(space.make(problem, Vector<S>::Zero(problem.dims().y))),
        b(space.make(problem, Vector<S>::Zero(problem.dims().y))) {}

  void step(const Course& c, Round t, std::int64_t n) {
    const double lambda = c.lambda(t), beta = c.ratio * c.alpha / lambda;
    const Penalty penalty{1.0, lambda};
    switch (c.walk) {
      case Walk::pair: return space.descend_pair(problem, x, a, b, beta, penalty, c.alpha, n);
      case Walk::dual: return space.descend_dual(problem, x, a, b, {c.alpha, beta, lambda}, n);
      case Walk::central: return space.descend_central(problem, x, a, b, {beta, lambda}, n);
      case Walk::alone:
        space.descend(problem, x, b, c.alpha, n);
        return space.descend_penalised(problem, x, a, beta, penalty, n);
    }
  }
  void direct(const Course& c, Round t) {
    switch (c.walk) {
      case Walk::pair:
      case Walk::alone: return space.penalty_direction(problem, x, a, b, c.lambda(t), d);
      case Walk::dual: return space.dual_direction(problem, x, a, b, c.lambda(t), d);
      case Walk::central: return space.central_direction(problem, x, a, b, c.lambda(t), d);
    }
  }
  // A whole round.
  void round(const Course& c, Round t) {
    problem.reveal(t);
    if (c.drawn) {
      Rng rng = Rng(11).child("draws", static_cast<std::uint64_t>(t));
      for (std::int64_t k = 0; k < c.steps; ++k) {
        problem.resample({.outer = 5, .inner = 4}, rng);
        step(c, t, 1);
      }
    } else {
      step(c, t, c.steps);
    }
    direct(c, t);
  }
  void move(const Course& c) { x = (x - S(c.gamma) * d).cwiseMax(S(c.low)).cwiseMin(S(c.high)); }

  [[nodiscard]] Vector<S> dense(const Inner<P>& inner) {
    Vector<S> out(problem.dims().y);
    space.to_dense(problem, inner, out);
    return out;
  }
};

// How far two came apart, in the largest number of either.
template <class A, class B>
[[nodiscard]] double apart(const A& one, const B& two) {
  const Vector<double> u = one.template cast<double>(), v = two.template cast<double>();
  if (!u.allFinite() || !v.allFinite()) return std::numeric_limits<double>::infinity();
  const double size = std::max(u.cwiseAbs().maxCoeff(), v.cwiseAbs().maxCoeff());
  return size == 0.0 ? 0.0 : (u - v).cwiseAbs().maxCoeff() / size;
}

struct Parting {
  double x = 0.0, d = 0.0, a = 0.0, b = 0.0;         // the worst of all rounds; iterates at the last
  std::int64_t at_low = 0, at_high = 0, inside = 0;  // entries of x, over the rounds
  [[nodiscard]] double worst() const { return std::max({x, d, a, b}); }
};

template <class One, class Two>
void watch(One& one, Two& two, const Course& course, Parting& seen) {
  seen.d = std::max(seen.d, apart(one.d, two.d));
  seen.x = std::max(seen.x, apart(one.x, two.x));
  for (const double xi : two.x) ++(xi == course.low ? seen.at_low : xi == course.high ? seen.at_high : seen.inside);
}
template <class One, class Two>
void compare_ends(One& one, Two& two, Parting& seen) {
  seen.a = apart(one.dense(one.a), two.dense(two.a));
  seen.b = apart(one.dense(one.b), two.dense(two.b));
}

template <class S>
[[nodiscard]] Parting race(const SoftmaxOptions& options, const Course& course, std::uint64_t seed = 3) {
  Walker<SoftmaxL2<S>> lazy(options, seed, course.start);
  Walker<SoftmaxOracle<double>> dense(options, seed, course.start);
  Parting seen;
  for (Round t = 1; t <= course.rounds; ++t) {
    lazy.round(course, t);
    dense.round(course, t);
    lazy.move(course);
    dense.move(course);
    watch(lazy, dense, course, seen);
  }
  compare_ends(lazy, dense, seen);
  return seen;
}

// What the method makes of a disturbance: two dense walks whose x_1 differ by a part of 1e-8, over that.
[[nodiscard]] inline double growth_of_errors(const SoftmaxOptions& options, const Course& course,
                                             std::uint64_t seed = 3) {
  constexpr double disturbance = 1e-8;
  Walker<SoftmaxOracle<double>> dense(options, seed, course.start),
      other(options, seed, course.start * (1.0 + disturbance));
  Parting seen;
  for (Round t = 1; t <= course.rounds; ++t) {
    dense.round(course, t);
    other.round(course, t);
    dense.move(course);
    other.move(course);
    watch(other, dense, course, seen);
  }
  compare_ends(other, dense, seen);
  return std::max(1.0, seen.worst() / disturbance);
}

}  // namespace obolus::test
