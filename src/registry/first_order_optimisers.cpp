// Other methods that need gradients or values alone, and the control. A new one is one line here.
#include <array>

#include "obolus/optimisers/bome.hpp"
#include "obolus/optimisers/f2sa.hpp"
#include "obolus/optimisers/f3sa.hpp"
#include "obolus/optimisers/fixed.hpp"
#include "obolus/optimisers/pbgd.hpp"
#include "obolus/optimisers/with_finite_differences.hpp"
#include "obolus/optimisers/zo_sogd.hpp"
#include "registry/optimiser_entry.hpp"

namespace obolus::registry {

std::span<const OptimiserEntry> first_order_optimisers() {
  // clang-format off: one line per algorithm
  static constexpr std::array entries{
      optimiser_entry<ZoSogd>(),
      optimiser_entry<FsoboDifferences>(),
      optimiser_entry<AoboDifferences>(),
      optimiser_entry<F2sa>(),
      optimiser_entry<F3sa>(),
      optimiser_entry<Bome>(),
      optimiser_entry<Pbgd>(),
      optimiser_entry<Fixed>(),
  };
  // clang-format on
  return entries;
}

}  // namespace obolus::registry
