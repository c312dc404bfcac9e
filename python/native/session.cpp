// A session: an optimiser at work on a problem, one step at a time.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "config/document.hpp"
#include "data/checksum.hpp"
#include "module.hpp"
#include "obolus/any/erased.hpp"
#include "obolus/core/status.hpp"
#include "problems.hpp"
#include "run/experiment_parts.hpp"

namespace obolus::python {
namespace {

class DivergedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PythonSession {
 public:
  PythonSession(const std::string& config, nb::object problem) : problem_(std::move(problem)), parts_(read(config)) {
    visit([&]<class S>(AnyOracle<S>& oracle) {
      const auto start = parts_.start_on(oracle);
      session_ = parts_.prepared_optimiser->open(oracle, parts_.set, start.x, start.y);
    });
    if (!nb::try_cast(problem_, native_, false)) native_ = nullptr;
  }

  nb::typed<nb::tuple, nb::any, nb::ellipsis> step() {
    if (native_) native_->require_round();
    require_whole();
    torn_ = true;
    name_round();
    const Step step = native_ ? released_step() : plain_step();
    torn_ = false;
    if (step.status != Status::ok)
      throw DivergedError(
          fmt::format("round {}: {}; expected smaller steps, or another start", t_ + 1, to_string(step.status)));
    ++t_;
    return nb::make_tuple(step.lambda, step.gamma, step.inner_iterations, step.steps_y, step.steps_z, step.capped,
                          step.indefinite);
  }

  [[nodiscard]] Round t() const { return t_; }
  [[nodiscard]] Array x() const {
    return std::visit([](const auto& s) { return array_of(s->x()); }, session_);
  }
  [[nodiscard]] Array direction() const {
    return std::visit([](const auto& s) { return array_of(s->direction()); }, session_);
  }
  [[nodiscard]] Array y() {
    return inner([](auto& session, auto& out) { session.read_y(out); });
  }
  [[nodiscard]] Array z() {
    return inner([](auto& session, auto& out) { session.read_z(out); });
  }
  [[nodiscard]] nb::typed<nb::dict, nb::str, nb::int_> counts() const {
    const OracleCounts& c = std::visit([](const auto& s) -> const OracleCounts& { return s->counts(); }, session_);
    nb::typed<nb::dict, nb::str, nb::int_> d;
    d["f_x"] = c.f_x;
    d["f_y"] = c.f_y;
    d["g_x"] = c.g_x;
    d["g_y"] = c.g_y;
    d["hvp_yy"] = c.hvp_yy;
    d["hvp_xy"] = c.hvp_xy;
    d["values"] = c.values;
    d["samples"] = c.samples;
    return d;
  }
  [[nodiscard]] std::string config() const { return parts_.config(); }

  nb::bytes save() {
    Archive a;
    require_whole();
    fields(a);
    return nb::bytes(a.bytes().data(), a.bytes().size());
  }
  void restore(const nb::bytes& saved) {
    const auto* data = reinterpret_cast<const std::byte*>(saved.c_str());
    Archive a(std::vector<std::byte>(data, data + saved.size()));
    torn_ = true;
    fields(a);
    a.finish();
    torn_ = false;
  }

 private:
  void require_whole() const {
    if (torn_)
      throw std::runtime_error(
          fmt::format("round {} was interrupted half-way: restore a saved state, or open a new session", t_ + 1));
  }
  Experiment::Parts read(const std::string& config) const {
    const toml::table root = config::parse(config, "session");
    config::SectionReader reader(root, "problem");
    config::ProblemSection section;
    section.describe(reader);
    const bool single = section.precision == Precision::single;
    return {root, ".", std::make_unique<HeldProblem>(oracle_of(problem_, single))};
  }

  template <class Work>
  void visit(const Work& work) {
    std::visit([&](const auto& p) { work(*p); }, parts_.oracle);
  }
  template <class Read>
  Array inner(const Read& read) {
    return std::visit(
        [&]<class S>(const std::unique_ptr<AnySession<S>>& s) {
          Vector<S> out(parts_.dims.y);
          read(*s, out);
          return array_of(out);
        },
        session_);
  }

  // Errors of a problem written in Python name the round, whoever revealed it.
  void name_round() {
    visit([&]<class S>(AnyOracle<S>& oracle) {
      if (auto* own = native_ ? nullptr : python_problem(oracle)) own->name_round(t_ + 1);
    });
  }
  Step plain_step() {
    return std::visit([&](const auto& s) { return s->step(rng_); }, session_);
  }
  Step released_step() {
    const nb::gil_scoped_release released;
    return plain_step();
  }

  void fields(Archive& a) {
    std::string form = "obolus session 1", optimiser = parts_.optimiser.name;
    a("form", form);
    a("optimiser", optimiser);
    if (form != "obolus session 1" || optimiser != parts_.optimiser.name)
      throw DataError(fmt::format("got the state of '{}', expected that of '{}'", optimiser, parts_.optimiser.name));
    a("t", t_);
    std::visit([&](const auto& s) { a("session", *s); }, session_);
  }

  nb::object problem_;
  Experiment::Parts parts_;
  std::variant<std::unique_ptr<AnySession<double>>, std::unique_ptr<AnySession<float>>> session_;
  Rng rng_ = Rng(static_cast<std::uint64_t>(parts_.problem.seed)).child("optimiser");
  Round t_ = 0;
  const Problem* native_ = nullptr;
  bool torn_ = false;
};

}  // namespace

void bind_session(nb::module_& m) {
  nb::exception<ProblemError>(m, "ProblemError", PyExc_ValueError);
  nb::exception<DivergedError>(m, "DivergedError", PyExc_ArithmeticError);
  nb::class_<PythonSession>(m, "Session")
      .def(nb::init<const std::string&, nb::object>(), nb::arg("config"), nb::arg("problem"))
      .def("step", &PythonSession::step)
      .def_prop_ro("t", &PythonSession::t)
      .def_prop_ro("x", &PythonSession::x)
      .def_prop_ro("y", &PythonSession::y)
      .def_prop_ro("z", &PythonSession::z)
      .def_prop_ro("direction", &PythonSession::direction)
      .def_prop_ro("counts", &PythonSession::counts)
      .def_prop_ro("config", &PythonSession::config)
      .def("save", &PythonSession::save)
      .def("restore", &PythonSession::restore, nb::arg("state"));
}

}  // namespace obolus::python
