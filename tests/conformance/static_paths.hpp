// Every registered optimiser by its static type, compiled apart from the tests: what the erased path is compared with.
#pragma once

#include <memory>
#include <string_view>

#include "obolus/any/session.hpp"
#include "tests/conformance/optimiser_modes.hpp"
#include "tests/conformance/witnesses.hpp"

namespace obolus::test {

struct StaticPath {
  std::string_view name;
  std::unique_ptr<AnySession<double>> (*on_quadratic)(const OptimiserMode&, Quadratic<double>&, const ConvexSet&);
  // Null for an optimiser that needs Hessian-vector products.
  std::unique_ptr<AnySession<double>> (*on_first_order_only)(const OptimiserMode&, FirstOrderAndSamples&);
};

// Null for an optimiser that static_paths.cpp does not list.
[[nodiscard]] const StaticPath* static_path(std::string_view optimiser);

}  // namespace obolus::test
