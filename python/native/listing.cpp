// What the registry holds: Python's classes, signatures and docstrings are made from it.
#include "obolus/any/listing.hpp"

#include <nanobind/stl/string.h>

#include "module.hpp"
#include "obolus/fit/options.hpp"
#include "registry/option_lister.hpp"

namespace obolus::python {
namespace {

using Listed = nb::typed<nb::list, nb::any>;

Listed options_of(const std::vector<OptionListing>& options) {
  Listed list;
  for (const OptionListing& o : options) list.append(nb::make_tuple(o.name, o.type, o.standard, o.range, o.help));
  return list;
}

Listed entries_of(const std::vector<Listing>& entries) {
  Listed list;
  for (const Listing& e : entries) list.append(nb::make_tuple(e.name, e.title, e.citation, options_of(e.options)));
  return list;
}

}  // namespace

void bind_listing(nb::module_& m) {
  m.def("list_optimisers", [] { return entries_of(list_optimisers()); });
  m.def("list_problems", [] { return entries_of(list_problems()); });
  m.def("list_sets", [] { return entries_of(list_sets()); });
  m.def("list_sections", [] { return entries_of(list_sections()); });
  m.def("list_metrics", [] { return entries_of(list_metrics()); });
  m.def("list_fit_options", [] { return options_of(registry::option_listing<FitOptions>()); });
}

}  // namespace obolus::python
