// How fast a quantity grows with the horizon: the exponent p of q ~ T^p, by least squares of ln q on ln T, with the
// interval that Student's t gives it.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace obolus {
namespace detail {

// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8) by Lentz's method.
inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300, enough = 1e-16;
  const auto guarded = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / guarded(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    h *= d * c;
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    const double change = d * c;
    h *= change;
    if (std::abs(change - 1) < enough) break;
  }
  return h;
}

// I_x(a, b), regularised.
inline double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace detail

// The t with P(|T| ≤ t) = confidence for Student's distribution.
[[nodiscard]] inline double student_t(double confidence, double degrees) {
  const auto outside = [&](double t) { return detail::incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)); };
  double low = 0, high = 1;
  while (outside(high) > 1 - confidence && high < 1e12) {
    low = high;
    high *= 2;
  }
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (outside(middle) > 1 - confidence ? low : high) = middle;
  }
}

struct Growth {
  double exponent = 0;
  double half_width = 0;  // of the 95 % interval
  std::size_t points = 0;

  [[nodiscard]] double low() const { return exponent - half_width; }
  [[nodiscard]] double high() const { return exponent + half_width; }
};

using GrowthPoints = std::vector<std::pair<double, double>>;  // pairs (T, q)

// One exponent for several runs, each with its own level: a difference between seeds that is there from the first round
// says nothing about growth. Nothing with too few points for an interval, with a single T, or without a logarithm.
[[nodiscard]] inline std::optional<Growth> growth(const std::vector<GrowthPoints>& runs) {
  std::vector<std::pair<double, double>> centred;  // (ln T, ln q) less the run's means
  double xx = 0, xy = 0, noise = 0, residual = 0;
  for (const GrowthPoints& run : runs) {
    const auto n = static_cast<double>(run.size());
    double mean_x = 0, mean_y = 0;
    for (const auto& [T, q] : run) {
      if (!(T > 0) || !(q > 0) || !std::isfinite(q)) return std::nullopt;
      mean_x += std::log(T) / n;
      mean_y += std::log(q) / n;
    }
    for (const auto& [T, q] : run) {
      const auto& [x, y] = centred.emplace_back(std::log(T) - mean_x, std::log(q) - mean_y);
      xx += x * x;
      xy += x * y;
      // Equal horizons leave rounding errors of ln T: (ε ln T)² per point.
      noise += std::pow(2 * std::numeric_limits<double>::epsilon() * (1 + std::abs(mean_x)), 2);
    }
  }
  if (centred.size() < runs.size() + 2 || xx <= noise) return std::nullopt;
  Growth fit{xy / xx, 0, centred.size()};
  for (const auto& [x, y] : centred) residual += std::pow(y - fit.exponent * x, 2);
  const auto degrees = static_cast<double>(centred.size() - runs.size() - 1);
  fit.half_width = student_t(0.95, degrees) * std::sqrt(residual / degrees / xx);
  return fit;
}
[[nodiscard]] inline std::optional<Growth> growth(const GrowthPoints& points) {
  return growth(std::vector<GrowthPoints>(1, points));
}

}  // namespace obolus
