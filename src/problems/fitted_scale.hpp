// The one number by which logits are best scaled.
#pragma once

#include <cmath>

namespace obolus {

// The least of a convex function of s > 0, known by `derivatives(s, slope, curvature)`, within [1e-2, 1e2]: Newton's
// method, kept within a bracket that every slope narrows.
template <class Derivatives>
[[nodiscard]] double fitted_scale(double tolerance, Derivatives&& derivatives) {
  double low = 1e-2, high = 1e2, scale = 1.0;
  for (int i = 0; i < 60; ++i) {
    double slope = 0.0, curvature = 0.0;
    derivatives(scale, slope, curvature);
    if (slope == 0.0) break;
    (slope > 0.0 ? high : low) = scale;
    double next = curvature > 0.0 ? scale - slope / curvature : (slope > 0.0 ? low : high);
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const double moved = std::abs(next - scale);
    scale = next;
    if (moved <= tolerance * scale) break;
  }
  return scale;
}

}  // namespace obolus
