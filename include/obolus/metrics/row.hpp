// One round as numbers, and what each number is. `row_columns` is the only list of them: the trace, the summary, the
// checkpoint, a comparison's cells, the live view, `obolus list metrics`, the page and the check for non-finite numbers
// all follow it. A new metric is a member and a line here, and its measurement in metrics/round_meter.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "obolus/core/archive.hpp"
#include "obolus/core/counted.hpp"
#include "obolus/core/evaluation.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Counters and `regret` are cumulative, up to and including round t; f and g are those of the committed (x_t, y_t); the
// residuals are those of the y and z that the round's update ended with, at x_t. What was not measured is NaN.
struct Row {
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();

  Round t = 0;
  bool measured = false;
  bool has_regret = false;
  bool has_residuals = false;
  double f = absent, g = absent;
  double regret = absent, regret_increment = absent;
  double window_regret = absent, trailing_regret = absent;
  double own_mapping = absent;
  double hypergradient_error = absent;
  double residual_y = absent, residual_z = absent;
  double separation = absent;
  double lambda = 0;
  std::int64_t inner_steps = 0, inner_steps_y = 0, inner_steps_z = 0;
  bool capped = false, indefinite = false;
  OracleCounts counts{};
  double distance_y = absent, distance_z = absent;
  double untrusted = absent;
  double seconds = 0;
  Evaluation judged = {};      // of a measured round alone
  Evaluation evaluation = {};  // of an evaluated round: the problem's, then the means of what was judged so far

  void fields(Archive& a);
};

// Which rounds have a number.
enum class When : std::uint8_t {
  always,
  measured,   // Row::measured
  regret,     // Row::has_regret
  residuals,  // Row::has_residuals
  finite      // wherever it is a finite number: one that is not is no sign of divergence
};

struct RowColumn {
  using Place = std::variant<double Row::*, std::int64_t Row::*, bool Row::*, std::int64_t OracleCounts::*,
                             std::int64_t (OracleCounts::*)() const>;
  enum Trait : unsigned {
    log_scale = 1,       // of the page's axis
    total = 2,           // over all rounds so far
    no_trace = 4,        // nor in the live view
    no_summary = 8,      // not among the last round's numbers in summary.json
    no_checkpoint = 16,  // not under its own name; a new column has this or `added`, else older checkpoints are lost
    no_cells = 32,       // nor in a comparison's reports
    cells_by_hand = 64,  // in a comparison's cells, but written there by name
    added = 128          // older checkpoints lack it
  };

  std::string_view name;  // in files
  Place place;
  When when;
  std::string_view panel;    // of the page; empty: a panel of its own
  std::string_view label;    // on the page
  std::string_view meaning;  // in lists
  unsigned traits = 0;

  [[nodiscard]] constexpr bool is(Trait trait) const { return (traits & trait) != 0; }

  // Calls `use` with the number as a double, an integer or a truth value.
  template <class Use>
  decltype(auto) visit(const Row& row, Use&& use) const {
    return std::visit(
        [&]<class Member>(Member member) -> decltype(auto) {
          if constexpr (requires { row.*member; }) return use(row.*member);
          else if constexpr (std::is_member_function_pointer_v<Member>) return use((row.counts.*member)());
          else return use(row.counts.*member);
        },
        place);
  }
  [[nodiscard]] double number(const Row& row) const {
    return visit(row, [](auto value) { return static_cast<double>(value); });
  }
  // Of a number that was read back from a file. Counters are kept as a whole, not one by one.
  void set(Row& row, double value) const {
    std::visit(
        [&](auto member) {
          if constexpr (requires { row.*member; })
            row.*member = static_cast<std::decay_t<decltype(row.*member)>>(value);
        },
        place);
  }
  [[nodiscard]] bool present(const Row& row) const {
    switch (when) {
      case When::always: return true;
      case When::measured: return row.measured;
      case When::regret: return row.has_regret;
      case When::residuals: return row.has_residuals;
      case When::finite: return std::isfinite(number(row));
    }
    return false;
  }
};

// In the order of a trace's line and of a checkpoint.
inline constexpr auto row_columns = [] {
  using enum RowColumn::Trait;
  using R = Row;
  using C = OracleCounts;
  constexpr unsigned round_only = no_summary | no_cells, certified = log_scale | round_only | no_checkpoint;
  constexpr unsigned counter = total | no_summary | cells_by_hand, windowed = total | no_summary | added;
  return std::to_array<RowColumn>({
      {"f", &R::f, When::measured, "losses", "outer loss f", "f_t at the committed (x_t, y_t)", cells_by_hand},
      {"g", &R::g, When::measured, "losses", "inner loss g", "g_t at the committed (x_t, y_t)"},
      {"regret", &R::regret, When::regret, "regret", "cumulative regret",
       "BLReg so far: Σ |G_X(x_t, ∇F_t(x_t), γ)|², with one fixed γ", counter},
      {"regret_increment", &R::regret_increment, When::regret, "regret", "regret of the round",
       "the round's term of the regret", no_cells},
      {"window_regret", &R::window_regret, When::finite, "regret", "regret of a window, at the current x",
       "window-averaged regret so far: Σ |G_X(x_t, (1/W) Σ_i δ^i ∇F_{t−i}(x_t), γ)|², past functions at the current x",
       windowed},
      {"trailing_regret", &R::trailing_regret, When::finite, "regret", "regret of a window, each round at its own x",
       "the same with ∇F_{t−i}(x_{t−i}), every function at its own x", windowed},
      {"own_mapping", &R::own_mapping, When::measured, "regret", "|G|² of the method's own direction",
       "|G_X(x_t, d_t, γ_t)|², as the optimiser sees it", no_summary},
      {"hypergradient_error", &R::hypergradient_error, When::regret, "residuals", "hypergradient error",
       "|d_t − ∇F_t(x_t)|", log_scale},
      {"residual_y", &R::residual_y, When::residuals, "residuals", "residual of y",
       "|∇_y f + λ_t ∇_y g| at the y that the round ended with; |∇_y g| for a method without a penalty", log_scale},
      {"residual_z", &R::residual_z, When::residuals, "residuals", "residual of z",
       "|∇_y g| at the z that the round ended with", log_scale},
      {"separation", &R::separation, When::finite, "residuals", "separation |y − z|",
       "|y − z|/|z| of a penalty method, measured with the residuals; theory: O(1/λ_t)", log_scale},
      {"lambda", &R::lambda, When::always, "lambda", "penalty λ", "λ_t"},
      {"inner_steps", &R::inner_steps, When::always, "steps", "inner steps",
       "iterations of the round's inner loops together", no_summary},
      {"inner_steps_y", &R::inner_steps_y, When::always, "steps", "inner steps of y", "iterations of y's inner loop",
       round_only},
      {"inner_steps_z", &R::inner_steps_z, When::always, "steps", "inner steps of z", "iterations of z's inner loop",
       round_only},
      {"capped", &R::capped, When::always, "steps", "rounds at the cap (0/1)", "an adaptive loop stopped at max_inner",
       round_only},
      {"indefinite", &R::indefinite, When::always, "steps", "indefinite system (0/1)",
       "conjugate gradients met negative curvature: g_yy is not positive definite", round_only},
      {"grad_f", &C::grad_f, When::always, "oracle", "gradients of f", "gradients of f so far", counter},
      {"grad_g", &C::grad_g, When::always, "oracle", "gradients of g", "gradients of g so far", counter},
      {"hvp", &C::hvp_yy, When::always, "oracle", "Hessian-vector products", "products g_yy v so far", counter},
      {"cross", &C::hvp_xy, When::always, "oracle", "cross products", "products g_xy v so far", counter},
      {"values", &C::values, When::always, "oracle", "function values", "values of f or of g so far", counter},
      {"samples", &C::samples, When::always, "oracle", "samples", "samples drawn so far, in comparisons",
       counter | no_trace},
      {"distance_y", &R::distance_y, When::finite, "residuals", "distance of y from the solution",
       "certified bound 2 residual_y/(λ_t μ_g) on |y − y*_λ|, where μ_g is known and λ_t ≥ 2 L_f1/μ_g", certified},
      {"distance_z", &R::distance_z, When::finite, "residuals", "distance of z from the solution",
       "certified bound residual_z/μ_g on |z − y*|, where μ_g is known", certified},
      {"untrusted", &R::untrusted, When::finite, "regret", "∇F not to be trusted (1)",
       "1 where the reference solve of ∇F_t missed its tolerance; the regret leaves the round out, and the row has no "
       "regret_increment, where ∇F_t is not finite or g_yy singular to rounding",
       round_only | no_checkpoint},
      {"seconds", &R::seconds, When::always, "time", "seconds in updates",
       "time in updates so far; measuring is not counted", counter | no_checkpoint},
  });
}();

inline void Row::fields(Archive& a) {
  a("t", t);
  a("measured", measured);
  a("has_regret", has_regret);
  a("has_residuals", has_residuals);
  for (const RowColumn& column : row_columns) {
    if (column.is(RowColumn::no_checkpoint)) continue;
    std::visit(
        [&](auto member) {
          if constexpr (requires { a(column.name, this->*member); }) {
            if (column.is(RowColumn::added)) a.added(column.name, this->*member);
            else a(column.name, this->*member);
          }
        },
        column.place);
  }
  a("counts", counts);
  a("seconds", seconds);
  a("judged", judged);
  a("evaluation", evaluation);
}

// The name of the first number that was measured and is not finite, or nothing. A total is judged by its terms.
[[nodiscard]] inline std::string_view non_finite(const Row& row) {
  for (const RowColumn& column : row_columns)
    if (!column.is(RowColumn::total) && column.present(row) && !std::isfinite(column.number(row))) return column.name;
  for (const Evaluation* numbers : {&row.judged, &row.evaluation})
    for (const auto& [name, value] : *numbers)
      if (!std::isfinite(value)) return name;
  return {};
}

// The counters of OracleCounts one by one, as summaries and comparisons keep them.
inline constexpr auto oracle_counters =
    std::to_array<std::pair<const char*, std::int64_t OracleCounts::*>>({{"f_x", &OracleCounts::f_x},
                                                                         {"f_y", &OracleCounts::f_y},
                                                                         {"g_x", &OracleCounts::g_x},
                                                                         {"g_y", &OracleCounts::g_y},
                                                                         {"hvp", &OracleCounts::hvp_yy},
                                                                         {"cross", &OracleCounts::hvp_xy},
                                                                         {"values", &OracleCounts::values},
                                                                         {"samples", &OracleCounts::samples}});

}  // namespace obolus
