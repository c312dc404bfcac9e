// Problems as sessions and runs hold them: the library's own, and those written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <variant>

#include "obolus/any/any_oracle.hpp"
#include "python_problem.hpp"
#include "registry/registry.hpp"

namespace obolus::python {

using SharedOracle = std::variant<std::shared_ptr<AnyOracle<double>>, std::shared_ptr<AnyOracle<float>>>;

// A built-in problem, made from a config's [problem].
class Problem {
 public:
  Problem(const std::string& config, const std::string& folder);

  [[nodiscard]] const SharedOracle& oracle() const { return oracle_; }
  void reveal(Round t);
  // Throws a ConfigError if no round was revealed yet.
  void require_round() const;

 private:
  SharedOracle oracle_;
  Round round_ = 0;
};

// The oracle behind an object of Python's: a Problem's own, or one around any object with the methods. `single` is the
// scalar wanted; a Problem has its own.
[[nodiscard]] SharedOracle oracle_of(nb::handle problem, bool single);

// The problem of Python's behind an oracle; null for the library's own.
template <class S>
[[nodiscard]] PythonProblem<S>* python_problem(AnyOracle<S>& oracle);

// Stands for a problem that is there already.
class HeldProblem final : public registry::PreparedProblem {
 public:
  explicit HeldProblem(SharedOracle oracle) : oracle_(std::move(oracle)) {}
  [[nodiscard]] std::string section() const override { return {}; }
  [[nodiscard]] std::uint64_t data_checksum() const override { return 0; }
  [[nodiscard]] std::shared_ptr<AnyOracle<double>> make_double(std::uint64_t) const override { return get<double>(); }
  [[nodiscard]] std::shared_ptr<AnyOracle<float>> make_float(std::uint64_t) const override { return get<float>(); }

 private:
  template <class S>
  [[nodiscard]] std::shared_ptr<AnyOracle<S>> get() const {
    if (const auto* held = std::get_if<std::shared_ptr<AnyOracle<S>>>(&oracle_)) return *held;
    throw ConfigError(std::string("problem: got one of another precision, expected ") + dtype_name<S>());
  }
  SharedOracle oracle_;
};

}  // namespace obolus::python
