#include "trace/thinning.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/core/to_size.hpp"

namespace obolus {

std::size_t Thinning::bin(Round t) {
  // Any round up to 2^63 < e^44 falls into one of 44 · 45 < 2,000 bins, and each of the first 45 has its own.
  constexpr double bins_per_e_fold = 45;
  return to_size(bins_per_e_fold * std::log(static_cast<double>(std::max<Round>(t, 1))));
}

}  // namespace obolus
