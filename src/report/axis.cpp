#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace obolus {
namespace {

// A range this small relative to the values is rounding, and its labels would be all digits.
constexpr double min_range = 1e-5;

std::string number(double v, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(v), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return v < 0 && !zero ? "−" + text : text;
}

Words power_of_ten(int exponent, const std::string& before = "10") {
  return {before, exponent < 0 ? fmt::format("−{}", -exponent) : fmt::format("{}", exponent)};
}

// 1, 2 or 5 times a power of ten.
double round_step(double min) {
  const double unit = std::pow(10.0, std::floor(std::log10(min))), m = min / unit;
  return unit * (m <= 1.0001 ? 1 : m <= 2.0001 ? 2 : m <= 5.0001 ? 5 : 10);
}

int decimals_of(double step) { return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-6))); }

// For one value of a logarithmic axis.
Words plain(double v, int digits) {
  const int exponent = static_cast<int>(std::floor(std::log10(v) + 1e-9));
  if (exponent >= 5 || exponent < -3)
    return power_of_ten(exponent, fmt::format("{:.{}g}×10", v / std::pow(10.0, exponent), digits));
  return {fmt::format("{:.{}g}", v, std::max(digits, exponent + 1)), {}};
}

}  // namespace

double Ticks::max_width(double size) const {
  double width = 0;
  for (const Tick& t : all) width = std::max(width, t.label.width(size));
  return width;
}

void Axis::settle(double room) {
  if (!(low_ <= high_)) {
    low_ = 0;
    high_ = 1;
  }
  const double max = std::max(std::abs(low_), std::abs(high_));
  const double min = logarithmic_ ? 0.01 : std::max(1e-200, min_range * max);
  if (high_ - low_ <= min) {
    const double half = logarithmic_ ? 0.5 : max > 1e-200 ? 0.1 * max : 0.5;
    low_ -= half;
    high_ += half;
  }
  const double margin = room * (high_ - low_);
  low_ -= margin;
  high_ += margin;
}

void Axis::settle_from_zero(double room) {
  if (!logarithmic_ && low_ > 0 && low_ < 0.15 * high_) low_ = 0;
  settle(room);
}

std::vector<double> Axis::round_values(double low, double high, int max_labels) const {
  const double step = round_step((high - low) / max_labels);
  std::vector<double> values;
  for (double k = std::ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; ++k) values.push_back(k * step);
  return values;
}

Ticks Axis::linear(int max_labels) const {
  Ticks ticks;
  const double max_size = std::max(std::abs(low_), std::abs(high_));
  const double step = round_step((high_ - low_) / max_labels);
  int exponent = 0;
  if (max_size >= 99999.5 || max_size < 0.01) exponent = static_cast<int>(std::floor(std::log10(max_size)));
  const double unit = std::pow(10.0, exponent);
  if (exponent != 0) ticks.factor = power_of_ten(exponent, "×10");
  for (const double v : round_values(low_, high_, max_labels))
    ticks.all.push_back({part(v), {number(v / unit, decimals_of(step / unit)), {}}});
  return ticks;
}

Ticks Axis::decades(int max_labels) const {
  Ticks ticks;
  const int first = static_cast<int>(std::floor(low_)), last = static_cast<int>(std::floor(high_ + 1e-9));
  const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_) / max_labels)));
  for (int k = first; k <= last; ++k) {
    const bool labelled = (k % every + every) % every == 0;
    if (k >= low_ - 1e-9)
      ticks.all.push_back({part(std::pow(10.0, k)), labelled ? power_of_ten(k) : Words{}, !labelled});
    for (int m = 2; every == 1 && m < 10; ++m)
      if (const double v = k + std::log10(m); v >= low_ && v <= high_)
        ticks.all.push_back({part(std::pow(10.0, v)), {}, true});
  }
  return ticks;
}

Ticks Axis::within_a_decade(int max_labels) const {
  Ticks ticks;
  const double low = std::pow(10.0, low_), high = std::pow(10.0, high_);
  if (high < 3 * low) {
    const double step = round_step((high - low) / max_labels);
    const int decimals = decimals_of(step), digits = 1 + static_cast<int>(std::floor(std::log10(high / step)));
    const bool short_enough = high < 99999.5 && low >= 0.001;
    for (const double v : round_values(low, high, max_labels))
      ticks.all.push_back({part(v), short_enough ? Words{number(v, decimals), {}} : plain(v, digits)});
    return ticks;
  }
  for (int k = static_cast<int>(std::floor(low_)); k <= high_; ++k)
    for (int m = 1; m < 10; ++m) {
      const double v = m * std::pow(10.0, k);
      if (v < low * (1 - 1e-9) || v > high * (1 + 1e-9)) continue;
      const bool labelled = m == 1 || m == 2 || m == 5;
      ticks.all.push_back({part(v), labelled ? plain(v, 3) : Words{}, !labelled});
    }
  return ticks;
}

Ticks Axis::ticks(int max_labels) const {
  if (!logarithmic_) return linear(max_labels);
  const bool two_decades = std::floor(high_ + 1e-9) - std::ceil(low_ - 1e-9) >= 1;
  return two_decades ? decades(max_labels) : within_a_decade(max_labels);
}

}  // namespace obolus
