// What the registry holds, as text: for `obolus list`, documentation and bindings.
#pragma once

#include <string>
#include <vector>

namespace obolus {

struct OptionListing {
  std::string name, type, standard, range, help;  // `standard` is the default, empty when unset
};

struct Listing {
  std::string name, title, citation;
  std::vector<OptionListing> options;
};

[[nodiscard]] std::vector<Listing> list_optimisers();
[[nodiscard]] std::vector<Listing> list_problems();
[[nodiscard]] std::vector<Listing> list_sets();
[[nodiscard]] std::vector<Listing> list_metrics();
[[nodiscard]] std::vector<Listing> list_generators();
[[nodiscard]] std::vector<Listing> list_sections();

}  // namespace obolus
