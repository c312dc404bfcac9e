// Hyperparameters as a few numbers, for traces and reports: all of them where they are few, else quantiles.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "obolus/core/to_size.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// x as it stands after round t.
struct Profile {
  static constexpr Index max_values = 32;
  static constexpr std::array levels{0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};

  Round t = 0;
  Index size = 0;               // of x
  std::vector<double> numbers;  // x itself up to max_values of them, else its quantiles at `levels`

  [[nodiscard]] bool whole() const { return size <= max_values; }
};

// The values of x counted in bins of equal width from min to max. What is not finite is left out.
struct Distribution {
  static constexpr Index max_values = 1000;
  static constexpr std::size_t bins = 64;

  Index size = 0;  // of x; 0: no x
  double min = 0, max = 0;
  std::vector<std::int64_t> counts;
  std::vector<double> values;  // x itself up to max_values of them
};

// 16 to 32 rounds in every octave, whatever the horizon, so that a resumed run has the same ones.
[[nodiscard]] inline bool profiled(Round t) {
  const int octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(t))) - 1;
  return octave <= 4 || t % (Round{1} << (octave - 4)) == 0;
}

namespace detail {
// At level q of the sorted numbers, linear between neighbours. Reorders `v`; numbers before `from` are already smaller.
template <class S>
double quantile(std::vector<S>& v, double q, std::size_t& from) {
  const double place = q * static_cast<double>(v.size() - 1);
  const auto below = to_size(place);
  const auto at = [&](std::size_t i) { return v.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(from), at(below), v.end());
  from = below;
  const double low = static_cast<double>(v[below]), part = place - static_cast<double>(below);
  if (part == 0) return low;
  return low + part * (static_cast<double>(*std::min_element(at(below + 1), v.end())) - low);
}
}  // namespace detail

template <class S>
[[nodiscard]] Profile profile_of(Round t, const Vector<S>& x) {
  Profile profile{t, x.size(), {}};
  std::vector<S> values(x.data(), x.data() + x.size());
  if (profile.whole()) {
    profile.numbers.assign(values.begin(), values.end());
    return profile;
  }
  std::size_t from = 0;
  for (const double q : Profile::levels) profile.numbers.push_back(detail::quantile(values, q, from));
  return profile;
}

template <class S>
[[nodiscard]] Distribution distribution_of(const Vector<S>& x) {
  Distribution d{x.size(), 0, 0, std::vector<std::int64_t>(Distribution::bins), {}};
  std::vector<double> finite;
  finite.reserve(to_size(x.size()));
  for (Index i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i])) finite.push_back(static_cast<double>(x[i]));
  if (finite.empty()) return {};
  const auto [min, max] = std::minmax_element(finite.begin(), finite.end());
  d.min = *min;
  d.max = *max;
  const double scale = d.max > d.min ? static_cast<double>(Distribution::bins) / (d.max - d.min) : 0.0;
  for (const double v : finite) ++d.counts[std::min(Distribution::bins - 1, to_size((v - d.min) * scale))];
  if (x.size() <= Distribution::max_values) d.values = std::move(finite);
  return d;
}

}  // namespace obolus
