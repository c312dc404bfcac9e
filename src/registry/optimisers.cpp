#include <string>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/nearest.hpp"
#include "registry/registry.hpp"

namespace obolus::registry {
namespace {

// Three families, each compiled in a file of its own: one file would take as long as all three.
const std::vector<OptimiserEntry>& optimisers() {
  static const std::vector<OptimiserEntry> all = [] {
    std::vector<OptimiserEntry> list;
    for (const auto family : {paper_optimisers(), product_optimisers(), first_order_optimisers()})
      list.insert(list.end(), family.begin(), family.end());
    return list;
  }();
  return all;
}

}  // namespace

const OptimiserEntry& optimiser(const std::string& name) {
  for (const OptimiserEntry& e : optimisers())
    if (e.info.name == name) return e;
  throw ConfigError("optimiser.name: there is no optimiser '" + name + "'" +
                    suggestion(name, names_of(optimisers(), [](const auto& e) { return e.info.name; })));
}

}  // namespace obolus::registry

namespace obolus {
std::vector<Listing> list_optimisers() {
  std::vector<Listing> list;
  for (const auto& e : registry::optimisers())
    list.push_back({std::string(e.info.name), std::string(e.info.title), std::string(e.info.citation), e.options()});
  return list;
}
}  // namespace obolus
