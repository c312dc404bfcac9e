// How much the environment moved: V_T, H_2T, E^f_y, E^g_y and P_T = H_2T + E^f_y + E^g_y (paper, eq. pathV and §4).
// Each term comes from the problem's closed form where it has one. Otherwise the supremum is taken over a fixed sample of
// points, which can only fall short, and the sum is labelled an estimate.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"

namespace obolus {

struct VariationSum {
  double sum = 0.0;
  bool exact = true;
  void add(const std::optional<double>& known, double estimate) {
    sum += known.value_or(estimate);
    exact = exact && known.has_value();
  }
  void fields(Archive& a) { a("sum", sum), a("exact", exact); }
};

template <FirstOrderOracle P>
  requires Stream<P>
class VariationMeter {
  using S = ScalarOf<P>;

 public:
  // Samples: projections onto X of normal points for x, normal points for y.
  VariationMeter(P& problem, const ConvexSet& set, std::int64_t points, Rng rng) : set_(set) {
    const Dims dims = problem.dims();
    for (std::int64_t i = 0; i < points; ++i) {
      xs_.push_back(normal(dims.x, rng));
      set_.template project<S>(xs_.back());
      ys_.push_back(normal(dims.y, rng));
    }
    values_.resize(xs_.size());
    for (auto* list : {&solutions_, &f_, &g_}) list->assign(xs_.size(), Vector<S>::Zero(dims.y));
    scratch_.resize(dims.y);
  }

  // Adds the change from round t − 1 to round t, and leaves round t current.
  void add(P& problem, Round t) {
    if (t < 2) return;
    Variation known;
    if constexpr (KnowsVariation<P>) known = problem.variation(t, set_);
    Variation estimate{0.0, 0.0, 0.0, 0.0};
    const bool all_known = known.value && known.solution && known.outer_gradient && known.inner_gradient;
    if (!all_known) {
      problem.reveal(t - 1);
      sample(problem, [](Index, double, const Vector<S>&, const Vector<S>&, const Vector<S>&) {}, true);
      problem.reveal(t);
      sample(problem, [&](Index i, double value, const Vector<S>& y, const Vector<S>& f, const Vector<S>& g) {
        const auto k = static_cast<std::size_t>(i);
        raise(estimate.value, std::abs(value - values_[k]));
        raise(estimate.solution, squared_distance(y, solutions_[k]));
        raise(estimate.outer_gradient, squared_distance(f, f_[k]));
        raise(estimate.inner_gradient, squared_distance(g, g_[k]));
      }, false);
    }
    V.add(known.value, *estimate.value);
    H2.add(known.solution, *estimate.solution);
    Ef.add(known.outer_gradient, *estimate.outer_gradient);
    Eg.add(known.inner_gradient, *estimate.inner_gradient);
  }

  [[nodiscard]] double P_T() const { return H2.sum + Ef.sum + Eg.sum; }
  [[nodiscard]] std::size_t points() const { return xs_.size(); }

  void fields(Archive& a) { a("V", V), a("H2", H2), a("Ef", Ef), a("Eg", Eg); }

  VariationSum V, H2, Ef, Eg;

 private:
  static Vector<S> normal(Index n, Rng& rng) {
    Vector<S> v(n);
    for (S& entry : v) entry = S(rng.normal());
    return v;
  }
  static void raise(std::optional<double>& most, double value) { most = std::max(*most, value); }
  static double squared_distance(const Vector<S>& a, const Vector<S>& b) {
    return (a - b).template cast<double>().squaredNorm();
  }

  // Evaluates F, y*, f_y and g_y at the sample; stores them when `store`, and hands them to `see` otherwise. Problems
  // without a closed-form inner solution get no estimate of V_T and H_2T: the terms stay 0 and inexact.
  template <class See>
  void sample(P& problem, See&& see, bool store) {
    const bool closed = capabilities_of(problem).closed_form;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      Vector<S> solution = Vector<S>::Zero(ys_[i].size()), f(solution), g(solution);
      double value = 0.0;
      if constexpr (ClosedFormOracle<P>) {
        if (closed) {
          problem.inner_solution(xs_[i], solution);
          value = problem.outer_value(xs_[i], solution);
        }
      }
      problem.outer_gradient_y(xs_[i], ys_[i], f);
      problem.inner_gradient_y(xs_[i], ys_[i], g);
      if (store) values_[i] = value, solutions_[i] = solution, f_[i] = f, g_[i] = g;
      else see(static_cast<Index>(i), value, solution, f, g);
    }
  }

  ConvexSet set_;
  std::vector<Vector<S>> xs_, ys_, solutions_, f_, g_;
  std::vector<double> values_;
  Vector<S> scratch_;
};

}  // namespace obolus
