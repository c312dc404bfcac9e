// The paper's own algorithms. A new one is one line here.
#include <array>

#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "registry/optimiser_entry.hpp"

namespace obolus::registry {

std::span<const OptimiserEntry> paper_optimisers() {
  // clang-format off: one line per algorithm
  static constexpr std::array entries{
      optimiser_entry<F2obo>(),
      optimiser_entry<F2oboSingleLoop>(),
      optimiser_entry<Af2obo>(),
      optimiser_entry<Sf2obo>(),
  };
  // clang-format on
  return entries;
}

}  // namespace obolus::registry
