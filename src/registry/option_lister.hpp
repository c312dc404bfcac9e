// The options of a struct, as `obolus list` shows them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/option_text.hpp"
#include "obolus/any/listing.hpp"

namespace obolus::registry {

// The visitor: describe(lister) lists options with their defaults.
class OptionLister {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view help, Range range = {}) {
    add(name, config::type_text<T>(), config::value_text(value), range, help);
  }
  std::vector<OptionListing> list;

 private:
  void add(std::string_view name, std::string type, std::string value, const Range& range, std::string_view help);
};

template <class Options>
[[nodiscard]] std::vector<OptionListing> option_listing() {
  OptionLister lister;
  Options().describe(lister);
  return std::move(lister.list);
}

}  // namespace obolus::registry
