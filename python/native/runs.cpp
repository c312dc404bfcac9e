// Whole runs and comparisons, by the same code as the command line's.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "config/document.hpp"
#include "module.hpp"
#include "obolus/run/comparison.hpp"
#include "obolus/run/experiment.hpp"
#include "problems.hpp"
#include "run/experiment_parts.hpp"

namespace obolus::python {
namespace {

using Pending = nb::typed<nb::list, nb::int_>;

// What Python says while native code runs: Ctrl-C and callbacks. An error of theirs is kept until the work has been
// saved, then raised.
class Python {
 public:
  // `pending` gets an item when Ctrl-C was pressed.
  explicit Python(Pending pending) : pending_(std::move(pending)) {}

  // Looks for Ctrl-C a few times per second; false once there was one. Needs no lock on Python's side.
  bool go_on() {
    const auto now = Clock::now();
    if (now - looked_ < std::chrono::milliseconds(50)) return true;
    looked_ = now;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) return nb::len(pending_) == 0;
    error_.emplace();
    return false;
  }
  // Shows progress a few times per second, and at the end.
  bool progress(const nb::object& callback, std::int64_t done, std::int64_t total) {
    const auto now = Clock::now();
    if (callback.is_none() || (done < total && now - shown_ < std::chrono::milliseconds(100))) return true;
    shown_ = now;
    const nb::gil_scoped_acquire acquired;
    return ask(callback, done, total);
  }
  // Whether to go on, as the callback says. Needs the lock.
  template <class... Arguments>
  bool ask(const nb::object& callback, Arguments&&... arguments) {
    try {
      const nb::object answer = callback(std::forward<Arguments>(arguments)...);
      if (answer.is_none()) return true;
      const int truth = PyObject_IsTrue(answer.ptr());
      if (truth < 0) nb::raise_python_error();
      return truth == 1;
    } catch (nb::python_error& error) {
      error.restore();
      error_.emplace();
      return false;
    }
  }
  void raise() {
    if (error_) throw std::move(*error_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Pending pending_;
  std::optional<nb::python_error> error_;
  Clock::time_point looked_, shown_;
};

// The rounds of a run as columns of numbers; NaN where nothing was measured.
class Columns {
 public:
  void add(const Row& row) {
    t_.push_back(static_cast<double>(row.t));
    for (const RowColumn& column : row_columns)
      if (!column.is(RowColumn::no_trace) && column.present(row)) put(std::string(column.name), column.number(row));
    for (const auto& n : row.evaluation) put(n.name, n.value);
    for (auto& [name, values] : columns_)
      if (values.size() < t_.size()) values.push_back(Row::absent);
  }
  [[nodiscard]] nb::dict arrays() const {
    nb::dict d;
    d["t"] = array(t_);
    for (const std::string& name : order_) d[nb::str(name.c_str())] = array(columns_.at(name));
    return d;
  }

 private:
  void put(const std::string& name, double value) {
    const auto [at, is_new] = columns_.try_emplace(name);
    if (is_new) {
      order_.push_back(name);
      at->second.assign(t_.size() - 1, Row::absent);
    }
    at->second.push_back(value);
  }
  static nb::object array(const std::vector<double>& values) {
    return array_of(Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size())));
  }
  std::vector<double> t_;
  std::map<std::string, std::vector<double>> columns_;
  std::vector<std::string> order_;
};

nb::dict row_dict(const Row& row) {
  nb::dict d;
  d["t"] = row.t;
  for (const RowColumn& column : row_columns)
    if (!column.is(RowColumn::no_trace) && column.present(row))
      column.visit(row, [&](auto value) { d[nb::str(column.name.data(), column.name.size())] = value; });
  for (const auto& n : row.evaluation) d[nb::str(n.name.c_str())] = n.value;
  return d;
}

Experiment experiment_of(const std::string& config, const std::string& folder,
                         const std::vector<std::string>& overrides, nb::handle problem) {
  if (problem.is_none()) {
    const nb::gil_scoped_release released;
    return Experiment(config, "config", folder, overrides);
  }
  const toml::table root = config::parse(config, "config");
  config::SectionReader reader(root, "problem");
  config::ProblemSection section;
  section.describe(reader);
  auto held = std::make_unique<HeldProblem>(oracle_of(problem, section.precision == Precision::single));
  return Experiment(std::make_unique<Experiment::Parts>(root, folder, std::move(held)));
}

// How the command line's flags are called here.
RunControl control_of(const Fields& flags) {
  RunControl control;
  control.directory = nb::cast<std::string>(flags["directory"]);
  control.resume = nb::cast<bool>(flags["resume"]);
  control.force = nb::cast<bool>(flags["force"]);
  control.threads = nb::cast<int>(flags["threads"]);
  control.about = nb::cast<std::string>(flags["about"]);
  return control;
}

// `watch(row)`, of the rounds that are kept, may return False to stop, `progress(done, total)` is told the rounds.
Fields run(const std::string& config, const std::string& folder, const std::vector<std::string>& overrides,
           nb::object problem, const Fields& flags, Round every, nb::object watch, nb::object progress,
           Pending pending) {
  const Experiment experiment = experiment_of(config, folder, overrides, problem);
  const bool native = problem.is_none() || nb::isinstance<Problem>(problem);
  Python python(std::move(pending));
  Columns columns;
  nb::object x, y;
  RunControl control = control_of(flags);
  control.on_row = [&](const Row& row) {
    const bool kept = row.t % every == 0 || row.t == experiment.rounds() || !row.evaluation.empty();
    if (kept) columns.add(row);
    if (!python.progress(progress, row.t, experiment.rounds()) || !python.go_on()) return false;
    if (!kept || watch.is_none()) return true;
    const nb::gil_scoped_acquire acquired;
    return python.ask(watch, row_dict(row));
  };
  control.on_end = [&](const Vector<double>& last_x, const Vector<double>& last_y) {
    const nb::gil_scoped_acquire acquired;
    x = array_of(last_x);
    y = array_of(last_y);
  };
  std::optional<RunSummary> summary;
  if (native) {
    const nb::gil_scoped_release released;
    summary = experiment.run(control);
  } else {
    summary = experiment.run(control);
  }
  python.raise();
  Fields d;
  d["summary"] = summary->json();
  d["config"] = experiment.config();
  d["seed"] = experiment.seed();
  d["columns"] = columns.arrays();
  d["x"] = x;
  d["y"] = y;
  return d;
}

// (stream, optimiser, setting, seed) as the config has them: threads end in any order.
nb::list plan_order(const ComparisonResult& result) {
  nb::list order;
  for (const StreamResult& stream : result.streams)
    for (const OptimiserResult& optimiser : stream.optimisers)
      for (const SettingResult& setting : optimiser.settings)
        for (const std::int64_t seed : result.seeds)
          order.append(nb::make_tuple(stream.name, optimiser.label, setting.text, seed));
  return order;
}

Fields compare(const std::string& config, const std::string& folder, const Fields& flags, nb::object progress,
               Pending pending) {
  Python python(std::move(pending));
  const RunControl common = control_of(flags);
  ComparisonControl control;
  control.directory = common.directory;
  control.resume = common.resume;
  control.force = common.force;
  control.threads = common.threads;
  control.about = common.about;
  std::vector<std::string> cells;
  control.on_cell = [&](const std::string& line) { cells.push_back(line); };
  control.on_progress = [&](std::size_t done, std::size_t of) {
    return python.progress(progress, static_cast<std::int64_t>(done), static_cast<std::int64_t>(of)) && python.go_on();
  };
  std::optional<ComparisonResult> result;
  std::string complete;
  {
    const nb::gil_scoped_release released;
    const Comparison comparison(config, "config", folder);
    result = comparison.run(control);
    complete = comparison.config();
  }
  python.raise();
  Fields d;
  d["cells"] = cells;
  d["order"] = result ? plan_order(*result) : nb::list();
  d["config"] = complete;
  d["text"] = result ? result->text() : std::string();
  return d;
}

}  // namespace

void bind_runs(nb::module_& m) {
  m.def("run", &run, nb::arg("config"), nb::arg("folder"), nb::arg("overrides"), nb::arg("problem").none(),
        nb::arg("flags"), nb::arg("every"), nb::arg("watch").none(), nb::arg("progress").none(), nb::arg("pending"));
  m.def("compare", &compare, nb::arg("config"), nb::arg("folder"), nb::arg("flags"), nb::arg("progress").none(),
        nb::arg("pending"));
}

}  // namespace obolus::python
