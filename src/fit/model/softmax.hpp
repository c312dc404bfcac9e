// Softmax of a few numbers in double; the learner's steps have their own in kernels/.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace obolus::fit {

// Scores become probabilities; returns ln Σ e^score.
inline double softmax(std::span<double> scores) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double s : scores) max = std::max(max, s);
  for (double& s : scores) {
    s = std::exp(s - max);
    sum += s;
  }
  for (double& s : scores) s /= sum;
  return std::log(sum) + max;
}

}  // namespace obolus::fit
