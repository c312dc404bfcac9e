// One round as numbers.
#pragma once

#include <cstdint>
#include <limits>

#include "obolus/core/archive.hpp"
#include "obolus/core/counted.hpp"
#include "obolus/core/evaluation.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Counters and `regret` are cumulative and stand after round t; f and g are those of the committed (x_t, y_t); the
// residuals are those of the y and z that the round's update ended with, at x_t. What was not measured is NaN.
struct Row {
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();

  Round t = 0;
  bool measured = false;       // f, g and own_mapping
  bool has_regret = false;     // regret, regret_increment and hypergradient_error
  bool has_residuals = false;  // residual_y and residual_z
  double f = absent, g = absent;
  double regret = absent, regret_increment = absent;
  double own_mapping = absent;          // |G_X(x_t, d_t, γ_t)|²
  double hypergradient_error = absent;  // |d_t − ∇F_t(x_t)|
  double residual_y = absent;           // |∇_y f + λ_t ∇_y g|, or |∇_y g| for a method without a penalty
  double residual_z = absent;           // |∇_y g|
  double separation = absent;           // |y − z|/|z| of a penalty method, with the residuals; theory: O(1/λ_t)
  double lambda = 0;
  std::int64_t inner_steps = 0, inner_steps_y = 0, inner_steps_z = 0;
  bool capped = false, indefinite = false;
  OracleCounts counts{};
  double seconds = 0;          // spent in updates so far
  Evaluation judged = {};      // of a measured round alone
  Evaluation evaluation = {};  // of an evaluated round: the problem's, then the means of what was judged so far

  void fields(Archive& a) {
    a("t", t), a("measured", measured), a("has_regret", has_regret), a("has_residuals", has_residuals);
    a("f", f), a("g", g), a("regret", regret), a("regret_increment", regret_increment);
    a("own_mapping", own_mapping), a("hypergradient_error", hypergradient_error);
    a("residual_y", residual_y), a("residual_z", residual_z), a("separation", separation);
    a("lambda", lambda);
    a("inner_steps", inner_steps), a("inner_steps_y", inner_steps_y), a("inner_steps_z", inner_steps_z);
    a("capped", capped), a("indefinite", indefinite), a("counts", counts), a("seconds", seconds);
    a("judged", judged), a("evaluation", evaluation);
  }
};

}  // namespace obolus
