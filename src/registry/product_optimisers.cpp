// Methods that ask for Hessian-vector products. A new one is one line here.
#include <array>

#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/oagd.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/wobo.hpp"
#include "registry/optimiser_entry.hpp"

namespace obolus::registry {

std::span<const OptimiserEntry> product_optimisers() {
  // clang-format off: one line per algorithm
  static constexpr std::array entries{
      optimiser_entry<Oagd>(),
      optimiser_entry<Sobow>(),
      optimiser_entry<Obbo>(),
      optimiser_entry<Sobbo>(),
      optimiser_entry<Fsobo>(),
      optimiser_entry<Aobo>(),
      optimiser_entry<Wobo>(),
      optimiser_entry<Sogd>(),
  };
  // clang-format on
  return entries;
}

}  // namespace obolus::registry
