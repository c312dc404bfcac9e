// The parts of the native module, each bound in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace obolus::python {

namespace nb = nanobind;

void bind_listing(nb::module_& m);
void bind_problems(nb::module_& m);
void bind_session(nb::module_& m);
void bind_runs(nb::module_& m);
void bind_stream(nb::module_& m);

}  // namespace obolus::python
