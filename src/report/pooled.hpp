// One curve from runs that differ by their seed: mean and standard deviation at the rounds that all of them have.
#pragma once

#include <optional>
#include <vector>

#include "report/figure.hpp"
#include "report/series.hpp"

namespace obolus {

enum class Abscissa { rounds, gradients, seconds };

[[nodiscard]] double abscissa(const Point& point, Abscissa x);

// x is a mean over the runs as well: their costs may differ. A mean over some of the runs would jump where one ends, so
// rounds that any of them lacks are left out.
[[nodiscard]] Curve pooled(const std::vector<const std::vector<Point>*>& runs, Abscissa x);

// The exponent p of value ~ x^p over the last decade of x, with one level per run.
[[nodiscard]] std::optional<double> slope(const std::vector<const std::vector<Point>*>& runs, Abscissa x);

}  // namespace obolus
