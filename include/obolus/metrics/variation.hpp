// How much the environment moved: V_T, H_2T, E^f_y, E^g_y and P_T = H_2T + E^f_y + E^g_y (paper, eq. pathV and §4).
// Each term comes from the problem's closed form where it has one. Otherwise the supremum is taken over a fixed sample
// of points, which can only be too small, and the sum is labelled an estimate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  void fields(Archive& a) {
    a("sum", sum);
    a("exact", exact);
  }
};

struct VariationSummary {
  VariationSum V, H2, Ef, Eg;
  double P = 0.0;
  std::size_t points = 0;  // behind the estimates
};

template <FirstOrderOracle P>
  requires Stream<P>
class VariationMeter {
  using S = ScalarOf<P>;

 public:
  // Samples: projections onto X of normal points for x, normal points for y.
  VariationMeter(P& problem, const ConvexSet& set, std::int64_t points, Rng rng) : set_(set) {
    const Dims dims = problem.dims();
    const auto normal = [&](Index n) {
      Vector<S> v(n);
      for (S& entry : v) entry = S(rng.normal());
      return v;
    };
    for (std::int64_t i = 0; i < points; ++i) {
      xs_.push_back(normal(dims.x));
      set_.template project<S>(xs_.back());
      ys_.push_back(normal(dims.y));
    }
    const Vector<S> zero = Vector<S>::Zero(dims.y);
    before_.assign(xs_.size(), {0.0, zero, zero, zero});
    now_ = before_.front();
  }

  // Adds the change from round t − 1 to round t, and leaves round t current.
  void add(P& problem, Round t) {
    if (t < 2) return;
    Variation known;
    if constexpr (KnowsVariation<P>) known = problem.variation(t, set_);
    const bool all_known = known.value && known.solution && known.outer_gradient && known.inner_gradient;
    const Change seen = all_known ? Change{} : max_change(problem, t);
    V.add(known.value, seen.value);
    H2.add(known.solution, seen.solution);
    Ef.add(known.outer_gradient, seen.f_y);
    Eg.add(known.inner_gradient, seen.g_y);
  }

  [[nodiscard]] double P_T() const { return H2.sum + Ef.sum + Eg.sum; }
  [[nodiscard]] std::size_t points() const { return xs_.size(); }
  [[nodiscard]] VariationSummary summary() const { return {V, H2, Ef, Eg, P_T(), points()}; }

  void fields(Archive& a) {
    a("V", V);
    a("H2", H2);
    a("Ef", Ef);
    a("Eg", Eg);
  }

  VariationSum V, H2, Ef, Eg;

 private:
  // A round at one point of the sample. Problems without a closed-form inner solution leave F and y* at 0: V_T and H_2T
  // get no estimate then, and their sums are labelled inexact.
  struct Sample {
    double value;
    Vector<S> solution, f_y, g_y;
  };
  struct Change {
    double value = 0, solution = 0, f_y = 0, g_y = 0;
  };

  void evaluate(P& problem, std::size_t i, Sample& out) {
    if constexpr (ClosedFormOracle<P>) {
      if (capabilities_of(problem).closed_form) {
        problem.inner_solution(xs_[i], out.solution);
        out.value = problem.outer_value(xs_[i], out.solution);
      }
    }
    problem.outer_gradient_y(xs_[i], ys_[i], out.f_y);
    problem.inner_gradient_y(xs_[i], ys_[i], out.g_y);
  }

  Change max_change(P& problem, Round t) {
    const auto squared = [](const Vector<S>& a, const Vector<S>& b) {
      return (a - b).template cast<double>().squaredNorm();
    };
    problem.reveal(t - 1);
    for (std::size_t i = 0; i < xs_.size(); ++i) evaluate(problem, i, before_[i]);
    problem.reveal(t);
    Change max;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      evaluate(problem, i, now_);
      max.value = std::max(max.value, std::abs(now_.value - before_[i].value));
      max.solution = std::max(max.solution, squared(now_.solution, before_[i].solution));
      max.f_y = std::max(max.f_y, squared(now_.f_y, before_[i].f_y));
      max.g_y = std::max(max.g_y, squared(now_.g_y, before_[i].g_y));
    }
    return max;
  }

  ConvexSet set_;
  std::vector<Vector<S>> xs_, ys_;
  std::vector<Sample> before_;
  Sample now_;
};

}  // namespace obolus
