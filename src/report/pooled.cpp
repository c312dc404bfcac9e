#include "report/pooled.hpp"

#include <algorithm>
#include <cmath>

#include "obolus/metrics/growth.hpp"

namespace obolus {
namespace {

struct Moments {
  double mean = 0, sd = 0;
};

template <class Value>
Moments moments(const std::vector<const Point*>& points, const Value& value) {
  const auto n = static_cast<double>(points.size());
  Moments m;
  double squares = 0;
  for (const Point* p : points) m.mean += value(*p) / n;
  for (const Point* p : points) squares += std::pow(value(*p) - m.mean, 2);
  if (points.size() > 1) m.sd = std::sqrt(squares / (n - 1));
  return m;
}

// The points of all runs at round t, or none if a run lacks it. `at`: where each run's search continues.
std::vector<const Point*> together(const std::vector<const std::vector<Point>*>& runs, Round t,
                                   std::vector<std::size_t>& at) {
  std::vector<const Point*> points;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::vector<Point>& run = *runs[r];
    while (at[r] < run.size() && run[at[r]].t < t) ++at[r];
    if (at[r] < run.size() && run[at[r]].t == t) points.push_back(&run[at[r]]);
  }
  if (points.size() < runs.size()) points.clear();
  return points;
}

}  // namespace

double abscissa(const Point& point, Abscissa x) {
  switch (x) {
    case Abscissa::gradients: return point.gradients;
    case Abscissa::seconds: return point.seconds;
    case Abscissa::rounds: break;
  }
  return static_cast<double>(point.t);
}

Curve pooled(const std::vector<const std::vector<Point>*>& runs, Abscissa x) {
  Curve curve;
  if (runs.empty()) return curve;
  std::vector<std::size_t> at(runs.size());
  for (const Point& p : *runs.front()) {
    const auto points = together(runs, p.t, at);
    if (points.empty()) continue;
    const Moments value = moments(points, [](const Point& q) { return q.value; });
    curve.x.push_back(moments(points, [x](const Point& q) { return abscissa(q, x); }).mean);
    curve.mean.push_back(value.mean);
    curve.sd.push_back(value.sd);
  }
  return curve;
}

std::optional<double> slope(const std::vector<const std::vector<Point>*>& runs, Abscissa x) {
  std::vector<GrowthPoints> decades;
  for (const std::vector<Point>* run : runs) {
    GrowthPoints& points = decades.emplace_back();
    for (const Point& p : *run)
      if (10 * abscissa(p, x) >= abscissa(run->back(), x)) points.emplace_back(abscissa(p, x), p.value);
  }
  const auto fit = growth(decades);
  if (!fit) return std::nullopt;
  return fit->exponent;
}

}  // namespace obolus
