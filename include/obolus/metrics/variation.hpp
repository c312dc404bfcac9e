// How much the environment moved (paper, eqs. pathV and E_yy_g, §3.2, caption of Table 2): V_T, H_2T, and the sums E of
// the squared changes of ∇_y f, ∇_y g, ∇_x f, ∇²_yy g and ∇²_xy g, with
//     P_T = H_2T + E^f_y + E^g_y,     E_2T = E^f_y + E^g_yy,     Ψ_T = P_T + E^f_x + E^g_xy + E^g_yy.
// Each term comes from the problem's closed form where it has one. Otherwise the supremum is taken over a fixed sample
// of points, which can only be too small, and the sum is labelled an estimate. F and y* at such a point need the inner
// solution: the problem's own, or a reference solve if `solve` asks for it. Without them V_T and H_2T are not measured.
// The norm of a matrix is the spectral one, a supremum over unit vectors: each point has one of those. Differences of
// gradients would hide a small change of a product, so without products of the problem's own it is not measured.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/core/finite_difference.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/metrics/reference_solution.hpp"

namespace obolus {

struct VariationSum {
  double sum = 0.0;  // NaN: a change was neither known nor estimated
  bool exact = true;

  void add(const std::optional<double>& known, const std::optional<double>& estimate) {
    sum += known ? *known : estimate.value_or(std::numeric_limits<double>::quiet_NaN());
    exact = exact && known.has_value();
  }
  [[nodiscard]] bool measured() const { return !std::isnan(sum); }
  // "exact", "estimate", "infinite" or "not measured"
  [[nodiscard]] std::string_view kind() const {
    if (!measured()) return "not measured";
    if (std::isinf(sum)) return "infinite";
    return exact ? "exact" : "estimate";
  }
  void fields(Archive& a) {
    a("sum", sum);
    a("exact", exact);
  }
};

// Not measured unless all of its parts are.
[[nodiscard]] inline VariationSum total(std::initializer_list<VariationSum> parts) {
  VariationSum all;
  for (const VariationSum& part : parts) all = {all.sum + part.sum, all.exact && part.exact};
  return all;
}

struct VariationSums {
  VariationSum V, H2, Ef, Eg, Efx, Egyy, Egxy;
};

struct VariationSummary : VariationSums {
  std::size_t points = 0;  // behind the estimates

  [[nodiscard]] VariationSum P() const { return total({H2, Ef, Eg}); }
  [[nodiscard]] VariationSum E2() const { return total({Ef, Egyy}); }
  [[nodiscard]] VariationSum Psi() const { return total({P(), Efx, Egxy, Egyy}); }
};

// In files, in this order: what is measured, then what follows from it.
struct VariationPart {
  const char* name;
  VariationSum VariationSums::* sum;
};
inline constexpr auto variation_parts = std::to_array<VariationPart>({{"V_T", &VariationSums::V},
                                                                      {"H_2T", &VariationSums::H2},
                                                                      {"E_f_y", &VariationSums::Ef},
                                                                      {"E_g_y", &VariationSums::Eg},
                                                                      {"E_f_x", &VariationSums::Efx},
                                                                      {"E_g_yy", &VariationSums::Egyy},
                                                                      {"E_g_xy", &VariationSums::Egxy}});
struct VariationTotal {
  const char* name;
  VariationSum (VariationSummary::*sum)() const;
};
inline constexpr auto variation_totals = std::to_array<VariationTotal>(
    {{"P_T", &VariationSummary::P}, {"E_2T", &VariationSummary::E2}, {"Psi_T", &VariationSummary::Psi}});

template <FirstOrderOracle P>
  requires Stream<P>
class VariationMeter : public VariationSums {
  using S = ScalarOf<P>;

 public:
  // Samples: projections onto X of normal points for x, normal points for y, unit vectors of R^d2. `solve`: y* by
  // reference solves where the problem has no closed form, two for every point and round.
  VariationMeter(P& problem, const ConvexSet& set, std::int64_t points, Rng rng, bool solve = false)
      : set_(set), solve_(solve), products_(HvpOracle<P> && capabilities_of(problem).hvp), work_(problem.dims().y) {
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
    for (std::int64_t i = 0; i < points; ++i) units_.push_back(normal(dims.y).normalized());
    const Vector<S> y = Vector<S>::Zero(dims.y), x = Vector<S>::Zero(dims.x);
    before_.assign(xs_.size(), {false, 0.0, y, y, y, x, y, x});
    now_ = before_;
  }

  // Adds the change from round t − 1 to round t, and leaves round t current.
  void add(P& problem, Round t) {
    if (t < 2) return;
    Variation known;
    if constexpr (KnowsVariation<P>) known = problem.variation(t, set_);
    const bool all_known = known.value && known.solution && known.outer_gradient && known.inner_gradient &&
                           known.outer_gradient_x && known.inner_hessian && known.inner_cross;
    const Change seen = all_known ? Change{} : max_change(problem, t);
    V.add(known.value, seen.value);
    H2.add(known.solution, seen.solution);
    Ef.add(known.outer_gradient, seen.f_y);
    Eg.add(known.inner_gradient, seen.g_y);
    Efx.add(known.outer_gradient_x, seen.f_x);
    Egyy.add(known.inner_hessian, seen.g_yy);
    Egxy.add(known.inner_cross, seen.g_xy);
  }

  [[nodiscard]] std::size_t points() const { return xs_.size(); }
  [[nodiscard]] VariationSummary summary() const { return {*this, points()}; }

  void fields(Archive& a) {
    a("V", V);
    a("H2", H2);
    a("Ef", Ef);
    a("Eg", Eg);
    // What an older archive lacks was not measured in its rounds.
    const auto added = [&](std::string_view name, VariationSum& sum) {
      if (a.loading()) sum = {std::numeric_limits<double>::quiet_NaN(), false};
      a.added(name, sum);
    };
    added("Efx", Efx);
    added("Egyy", Egyy);
    added("Egxy", Egxy);
    if (!solve_) return;
    for (std::vector<Sample>* samples : {&before_, &now_})
      for (Sample& sample : *samples) a("solution", sample.solution);  // where the next solve starts
  }

 private:
  // A round at one point of the sample. A reference solve starts at the last solution.
  struct Sample {
    bool solved;
    double value;
    Vector<S> solution, f_y, g_y, f_x;
    Vector<S> g_yy, g_xy;  // times the point's unit vector
  };
  struct Change {
    std::optional<double> value = 0.0, solution = 0.0;  // none where an inner problem was not solved
    double f_y = 0.0, g_y = 0.0, f_x = 0.0;
    std::optional<double> g_yy = 0.0, g_xy = 0.0;  // none without products
  };

  bool find_solution(P& problem, In<S> x, Vector<S>& solution) {
    if constexpr (ClosedFormOracle<P>) {
      if (capabilities_of(problem).closed_form) {
        problem.inner_solution(x, solution);
        return true;
      }
    }
    if (!solve_ || !H2.measured()) return false;  // a sum that is lost stays lost
    if (!solution.allFinite()) solution.setZero();
    return with_products(problem,
                         [&](auto& products, bool) { return solve_inner(products, x, solution, work_).converged; });
  }

  void evaluate(P& problem, std::size_t i, Sample& out) {
    out.solved = find_solution(problem, xs_[i], out.solution);
    if (out.solved) out.value = problem.outer_value(xs_[i], out.solution);
    problem.outer_gradient_y(xs_[i], ys_[i], out.f_y);
    problem.inner_gradient_y(xs_[i], ys_[i], out.g_y);
    problem.outer_gradient_x(xs_[i], ys_[i], out.f_x);
    if constexpr (HvpOracle<P>) {
      if (!products_) return;
      problem.inner_hvp_yy(xs_[i], ys_[i], units_[i], out.g_yy);
      problem.inner_hvp_xy(xs_[i], ys_[i], units_[i], out.g_xy);
    }
  }

  Change max_change(P& problem, Round t) {
    const auto squared = [](const Vector<S>& a, const Vector<S>& b) {
      return (a - b).template cast<double>().squaredNorm();
    };
    const auto raise = [](std::optional<double>& max, bool known, double value) {
      if (!known || !std::isfinite(value)) max.reset();
      else if (max) max = std::max(*max, value);
    };
    problem.reveal(t - 1);
    for (std::size_t i = 0; i < xs_.size(); ++i) evaluate(problem, i, before_[i]);
    problem.reveal(t);
    Change max;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      evaluate(problem, i, now_[i]);
      const Sample &a = before_[i], &b = now_[i];
      const bool solved = a.solved && b.solved;
      raise(max.value, solved, std::abs(b.value - a.value));
      raise(max.solution, solved, squared(b.solution, a.solution));
      max.f_y = std::max(max.f_y, squared(b.f_y, a.f_y));
      max.g_y = std::max(max.g_y, squared(b.g_y, a.g_y));
      max.f_x = std::max(max.f_x, squared(b.f_x, a.f_x));
      raise(max.g_yy, products_, squared(b.g_yy, a.g_yy));
      raise(max.g_xy, products_, squared(b.g_xy, a.g_xy));
    }
    return max;
  }

  ConvexSet set_;
  std::vector<Vector<S>> xs_, ys_, units_;
  std::vector<Sample> before_, now_;
  bool solve_, products_;
  ReferenceWorkspace<S> work_;
};

}  // namespace obolus
