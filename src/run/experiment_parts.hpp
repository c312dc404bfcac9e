// An experiment, read and resolved.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "config/sections.hpp"
#include "obolus/run/experiment.hpp"
#include "registry/registry.hpp"

namespace obolus {

struct Experiment::Parts {
  config::ProblemSection problem;
  config::StartSection start;
  config::OptimiserSection optimiser;
  config::DomainSection domain;
  config::MetricsSection metrics;
  config::LogSection log;

  std::unique_ptr<registry::PreparedProblem> prepared_problem;
  std::unique_ptr<registry::PreparedOptimiser> prepared_optimiser;
  std::variant<std::unique_ptr<AnyOracle<double>>, std::unique_ptr<AnyOracle<float>>> oracle;
  ConvexSet set = ConvexSet::all();
  Dims dims;
  std::optional<Constants> constants;  // the problem's, overlaid with the config's; unset when nothing is known
  std::uint64_t data_checksum = 0;     // of the problem's data file, when it has one

  Parts(const std::string& text, const std::string& source, const std::string& folder,
        const std::vector<std::string>& overrides);
  Parts(const toml::table& root, const std::string& folder) { resolve(root, folder); }

  [[nodiscard]] std::string config() const;
  [[nodiscard]] std::vector<Condition> conditions() const {
    if (!constants) return {};
    return prepared_optimiser->conditions(*constants, problem.rounds);
  }

  template <class S>
  [[nodiscard]] static Vector<S> start_vector(const Numbers& numbers, Index size) {
    if (!numbers.list) return Vector<S>::Constant(size, S(numbers.values.front()));
    return Eigen::Map<const Vector<double>>(numbers.values.data(), size).template cast<S>();
  }

 private:
  void resolve(const toml::table& root, const std::string& folder);
  void read_metrics(const toml::table& root);
  void require_means() const;
};

}  // namespace obolus
