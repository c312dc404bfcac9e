// What a step reports. Steps never throw and never print.
#pragma once

#include <cstdint>
#include <string_view>

namespace obolus {

enum class Status : std::uint8_t {
  ok,
  non_finite_direction,  // d_t has a NaN or an infinity
  non_finite_inner,      // an inner residual or iterate stopped being finite
  non_finite_outer,      // the step along d took x out of the finite numbers
  non_finite_system,     // v, the solution of the linear system, stopped being finite
};

constexpr std::string_view to_string(Status s) {
  switch (s) {
    case Status::ok: return "ok";
    case Status::non_finite_direction: return "the outer direction d is not finite";
    case Status::non_finite_inner: return "an inner iterate (y or z) is not finite";
    case Status::non_finite_outer: return "the outer iterate x is not finite";
    case Status::non_finite_system: return "the linear system's solution v is not finite";
  }
  return "unknown status";
}

// The report of one round's update.
struct Step {
  Status status = Status::ok;
  bool penalised = false;             // a penalty method: λ_t means something, y solves the penalised problem
  double lambda = 0.0;                // λ_t, the penalty used
  double gamma = 0.0;                 // γ_t, the outer step size used
  std::int64_t inner_iterations = 0;  // iterations of the inner loop(s); adaptive: y-loop + z-loop
  std::int64_t steps_y = 0;           // gradient steps that y took; in a stencil, of each copy
  std::int64_t steps_z = 0;           // gradient steps that z took
  bool capped = false;                // an adaptive loop stopped at max_inner, not at its tolerance
  bool indefinite = false;            // conjugate gradients met negative curvature and stopped early
};

}  // namespace obolus
