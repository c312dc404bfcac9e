#include "config/sections.hpp"

#include <fmt/format.h>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::config {

void require_length(const Numbers& numbers, Index size, const char* name) {
  if (!numbers.list || numbers.values.size() == to_size(size)) return;
  throw ConfigError(fmt::format("{}: got a list of {} numbers, expected one number or a list of {}", name,
                                numbers.values.size(), size));
}

ConvexSet DomainSection::make(Index dim_x) const {
  // One number holds for all coordinates, even when the other bound is a list.
  const auto wide = [&](const Numbers& n) -> Vector<double> {
    if (!n.list) return Vector<double>::Constant(dim_x, n.values.front());
    return Eigen::Map<const Vector<double>>(n.values.data(), static_cast<Index>(n.values.size()));
  };
  const auto given_radius = [&] {
    if (!radius) throw ConfigError("domain.radius: not given, expected a number > 0: the set is a ball");
    return *radius;
  };
  switch (set) {
    case SetName::all: return ConvexSet::all();
    case SetName::box:
      if (!lower.list && !upper.list) return ConvexSet::box(lower.values.front(), upper.values.front());
      require_length(lower, dim_x, "domain.lower");
      require_length(upper, dim_x, "domain.upper");
      return ConvexSet::box(wide(lower), wide(upper));
    case SetName::l2_ball: return ConvexSet::l2_ball(given_radius());
    case SetName::l1_ball: return ConvexSet::l1_ball(given_radius());
    case SetName::simplex: return ConvexSet::simplex();
    case SetName::nonnegative: return ConvexSet::nonnegative();
  }
  return ConvexSet::all();
}

}  // namespace obolus::config
