#include "problems.hpp"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "config/document.hpp"
#include "config/sections.hpp"
#include "module.hpp"
#include "obolus/any/erased.hpp"
#include "obolus/check/oracle.hpp"

namespace obolus::python {
namespace {

// Whatever NumPy can make a vector of.
template <class S>
Vector<S> argument(nb::handle given, Index size, const char* name) {
  const nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(given, dtype_name<S>());
  ArrayIn<S> vector;
  if (!nb::try_cast(array, vector) || static_cast<Index>(vector.size()) != size)
    throw ConfigError(fmt::format("{}: got shape {}, expected ({},)", name,
                                  nb::cast<std::string>(nb::str(array.attr("shape"))), size));
  return vector_of(vector);
}

// Calls `work(oracle, x, y)` with the arguments in the problem's own scalar.
template <class Work>
auto at(Problem& problem, nb::handle x, nb::handle y, const Work& work) {
  problem.require_round();
  return std::visit(
      [&]<class S>(const std::shared_ptr<AnyOracle<S>>& p) {
        return work(*p, argument<S>(x, p->dims().x, "x"), argument<S>(y, p->dims().y, "y"));
      },
      problem.oracle());
}

template <class S>
std::shared_ptr<AnyOracle<S>> erased(const nb::object& object) {
  const auto has = [&](const char* name) { return !nb::getattr(object, name, nb::none()).is_none(); };
  if (has("inner_gradient_x_difference") && has("inner_gradient_y_difference"))
    return std::make_shared<Erased<DifferenceProblem<S>>>(std::in_place, object);
  return std::make_shared<Erased<PythonProblem<S>>>(std::in_place, object);
}

template <class S, class Call>
Array result(Index size, const Call& call) {
  Vector<S> out(size);
  {
    const nb::gil_scoped_release released;
    call(out);
  }
  return array_of(out);
}

template <class Ask>
void bind_gradient(nb::class_<Problem>& c, const char* name, bool in_x, Ask ask) {
  const auto call = [in_x, ask](Problem& self, nb::handle x, nb::handle y) {
    return at(self, x, y, [&]<class S>(AnyOracle<S>& p, const Vector<S>& a, const Vector<S>& b) {
      return result<S>(in_x ? p.dims().x : p.dims().y, [&](Vector<S>& d) { ask(p, a, b, d); });
    });
  };
  c.def(name, call, nb::arg("x"), nb::arg("y"));
}

template <class Ask>
void bind_product(nb::class_<Problem>& c, const char* name, bool in_x, Ask ask) {
  const auto call = [in_x, ask](Problem& self, nb::handle x, nb::handle y, nb::handle v) {
    return at(self, x, y, [&]<class S>(AnyOracle<S>& p, const Vector<S>& a, const Vector<S>& b) {
      const Vector<S> along = argument<S>(v, p.dims().y, "v");
      return result<S>(in_x ? p.dims().x : p.dims().y, [&](Vector<S>& d) { ask(p, a, b, along, d); });
    });
  };
  c.def(name, call, nb::arg("x"), nb::arg("y"), nb::arg("v"));
}

template <class Ask>
void bind_value(nb::class_<Problem>& c, const char* name, Ask ask) {
  c.def(
      name, [ask](Problem& self, nb::handle x, nb::handle y) { return at(self, x, y, ask); }, nb::arg("x"),
      nb::arg("y"));
}

void bind_calls(nb::class_<Problem>& c) {
  bind_value(c, "outer_value", [](auto& p, const auto& x, const auto& y) { return p.outer_value(x, y); });
  bind_value(c, "inner_value", [](auto& p, const auto& x, const auto& y) { return p.inner_value(x, y); });
  bind_value(c, "evaluate", [](auto& p, const auto& x, const auto& y) {
    Evaluation found;
    p.evaluate(x, y, found);
    nb::typed<nb::dict, nb::str, nb::float_> numbers;
    for (const auto& n : found) numbers[nb::str(n.name.c_str())] = n.value;
    return numbers;
  });
  bind_gradient(c, "outer_gradient_x", true, [](auto& p, auto&... v) { p.outer_gradient_x(v...); });
  bind_gradient(c, "outer_gradient_y", false, [](auto& p, auto&... v) { p.outer_gradient_y(v...); });
  bind_gradient(c, "inner_gradient_x", true, [](auto& p, auto&... v) { p.inner_gradient_x(v...); });
  bind_gradient(c, "inner_gradient_y", false, [](auto& p, auto&... v) { p.inner_gradient_y(v...); });
  bind_product(c, "inner_hvp_yy", false, [](auto& p, auto&... v) { p.inner_hvp_yy(v...); });
  bind_product(c, "inner_hvp_xy", true, [](auto& p, auto&... v) { p.inner_hvp_xy(v...); });
}

nb::typed<nb::list, nb::any> check(nb::handle problem, bool single, nb::handle x, nb::handle y, double radius,
                                   const std::vector<Round>& rounds) {
  return std::visit(
      [&]<class S>(const std::shared_ptr<AnyOracle<S>>& p) {
        CheckOptions options;
        options.rounds = rounds;
        options.radius = radius;
        if (!x.is_none()) options.x = argument<double>(x, p->dims().x, "x");
        if (!y.is_none()) options.y = argument<double>(y, p->dims().y, "y");
        nb::typed<nb::list, nb::any> list;
        for (const Finding& f : check_oracle(*p, options).findings)
          list.append(nb::make_tuple(f.what, f.ok, f.error, f.tolerance, f.where));
        return list;
      },
      oracle_of(problem, single));
}

}  // namespace

Problem::Problem(const std::string& config, const std::string& folder) {
  const toml::table root = config::parse(config, "problem");
  config::SectionReader reader(root, "problem");
  config::ProblemSection section;
  section.describe(reader);
  const auto prepared = registry::problem(section.name).read(reader, folder);
  reader.finish();
  const auto seed = static_cast<std::uint64_t>(section.seed);
  if (section.precision == Precision::single) oracle_ = prepared->make<float>(seed);
  else oracle_ = prepared->make<double>(seed);
}

void Problem::reveal(Round t) {
  if (t < 1) throw ConfigError(fmt::format("reveal: got round {}, expected 1 or more", t));
  const nb::gil_scoped_release released;
  std::visit([t](const auto& p) { p->reveal(t); }, oracle_);
  round_ = t;
}

void Problem::require_round() const {
  if (round_ == 0) throw ConfigError("problem: no round is current, expected reveal(1) before this");
}

SharedOracle oracle_of(nb::handle problem, bool single) {
  if (Problem* own = nullptr; nb::try_cast(problem, own, false)) return own->oracle();
  if (single) return erased<float>(nb::borrow(problem));
  return erased<double>(nb::borrow(problem));
}

template <class S>
PythonProblem<S>* python_problem(AnyOracle<S>& oracle) {
  if (auto* plain = dynamic_cast<Erased<PythonProblem<S>>*>(&oracle)) return &plain->problem();
  if (auto* more = dynamic_cast<Erased<DifferenceProblem<S>>*>(&oracle)) return &more->problem();
  return nullptr;
}
template PythonProblem<double>* python_problem(AnyOracle<double>& oracle);
template PythonProblem<float>* python_problem(AnyOracle<float>& oracle);

void bind_problems(nb::module_& m) {
  nb::class_<Problem> c(m, "Problem");
  c.def(nb::init<const std::string&, const std::string&>(), nb::arg("config"), nb::arg("folder"),
        nb::call_guard<nb::gil_scoped_release>());
  c.def("reveal", &Problem::reveal, nb::arg("t"));
  c.def("dims", [](const Problem& self) {
    const Dims dims = std::visit([](const auto& p) { return p->dims(); }, self.oracle());
    return std::pair(dims.x, dims.y);
  });
  c.def("start", [](const Problem& self) {
    return std::visit(
        []<class S>(const std::shared_ptr<AnyOracle<S>>& p) {
          Vector<S> x(p->dims().x), y(p->dims().y);
          p->start(x, y);
          return nb::borrow<nb::typed<nb::tuple, Array, Array>>(nb::make_tuple(array_of(x), array_of(y)));
        },
        self.oracle());
  });
  c.def_prop_ro("dtype", [](const Problem& self) {
    const bool single = std::holds_alternative<std::shared_ptr<AnyOracle<float>>>(self.oracle());
    return nb::borrow<nb::any>(nb::module_::import_("numpy").attr("dtype")(single ? "float32" : "float64"));
  });
  bind_calls(c);
  m.def("check", &check, nb::arg("problem"), nb::arg("single"), nb::arg("x").none(), nb::arg("y").none(),
        nb::arg("radius"), nb::arg("rounds"));
}

}  // namespace obolus::python
