#include "module.hpp"

#include "obolus/core/error.hpp"
#include "obolus/version.hpp"

NB_MODULE(_native, m) {
  using namespace obolus;
  namespace nb = nanobind;
  nb::set_leak_warnings(false);  // a traceback that is kept to the end keeps its sessions, which is nobody's fault
  m.attr("version") = std::string(version_text).c_str();
  nb::exception<ConfigError>(m, "ConfigError", PyExc_ValueError);
  nb::exception<DataError>(m, "DataError", PyExc_ValueError);
  python::bind_listing(m);
  python::bind_problems(m);
  python::bind_session(m);
  python::bind_runs(m);
  python::bind_stream(m);
}
