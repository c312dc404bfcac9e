#include "trace/thinning.hpp"

#include <algorithm>
#include <cmath>

namespace obolus {
namespace {

// Any round up to 2^63 < e^44 falls into one of 44 · 45 < 2,000 bins, and each of the first 45 has its own.
constexpr double bins_per_e_fold = 45;

constexpr auto linear = static_cast<Thinning::Axes>(RoundAxis::linear);
constexpr auto logarithmic = static_cast<Thinning::Axes>(RoundAxis::logarithmic);

int bin(double t) { return static_cast<int>(bins_per_e_fold * std::log(std::max(1.0, t))); }

}  // namespace

Thinning::Axes Thinning::next(Round t) {
  Axes axes = 0;
  if (seen_++ % stride_ == 0) {
    axes |= linear;
    ++linear_;
  }
  if (const int b = bin(static_cast<double>(t)) >> shift_; b != last_bin_) {
    axes |= logarithmic;
    ++logarithmic_;
    last_bin_ = b;
  }
  return axes;
}

void Thinning::coarsen(std::vector<Axes>& axes, const std::vector<double>& t) {
  const bool of_linear = linear_ >= logarithmic_;
  const Axes axis = of_linear ? linear : logarithmic;
  if (of_linear) stride_ *= 2;
  else ++shift_;
  std::size_t ordinal = 0, kept = 0;
  int last = -1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if ((axes[i] & axis) == 0) continue;
    const int b = bin(t[i]) >> shift_;
    const bool stays = of_linear ? ordinal % 2 == 0 : b != last;
    ++ordinal;
    last = b;
    if (stays) ++kept;
    else axes[i] &= static_cast<Axes>(~axis);
  }
  (of_linear ? linear_ : logarithmic_) = kept;
  if (!of_linear) last_bin_ >>= 1;
}

}  // namespace obolus
