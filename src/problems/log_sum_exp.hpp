#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "obolus/core/types.hpp"

namespace obolus {

// log Σ_c exp(s l_c) and, through `each(c, p_c)`, the softmax of s l, in double; `each` may overwrite l_c.
template <class Column, class Each>
double log_sum_exp(const Column& l, double scale, Each&& each) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (Index c = 0; c < l.size(); ++c) max = std::max(max, scale * double(l(c)));
  for (Index c = 0; c < l.size(); ++c) sum += std::exp(scale * double(l(c)) - max);
  for (Index c = 0; c < l.size(); ++c) each(c, std::exp(scale * double(l(c)) - max) / sum);
  return max + std::log(sum);
}

}  // namespace obolus
