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
  std::variant<std::shared_ptr<AnyOracle<double>>, std::shared_ptr<AnyOracle<float>>> oracle;
  ConvexSet set = ConvexSet::all();
  Dims dims;
  bool convex = true;                  // the inner problem
  std::optional<Constants> constants;  // the problem's, overridden by the config's; unset when none is known
  std::uint64_t data_checksum = 0;     // of the problem's data file; 0 without one

  Parts(const std::string& text, const std::string& source, const std::string& folder,
        const std::vector<std::string>& overrides);
  // `own` is the problem itself, in place of one from the registry: [problem] then has only the keys of every problem.
  Parts(const toml::table& root, const std::string& folder, std::unique_ptr<registry::PreparedProblem> own = nullptr)
      : prepared_problem(std::move(own)) {
    resolve(root, folder);
  }

  [[nodiscard]] std::string config() const;
  [[nodiscard]] std::vector<Condition> conditions() const {
    if (!constants) return {};
    return prepared_optimiser->conditions(*constants, problem.rounds);
  }

  // (x_1, y_1): the config's where it gives them, otherwise the problem's.
  template <class S>
  struct Start {
    Vector<S> x, y;
  };
  template <class S>
  [[nodiscard]] Start<S> start_on(AnyOracle<S>& on) const {
    Start<S> at{Vector<S>(dims.x), Vector<S>(dims.y)};
    on.start(at.x, at.y);
    const auto put = [](const std::optional<Numbers>& from, Vector<S>& to) {
      if (!from) return;
      if (!from->list) to.setConstant(S(from->values.front()));
      else to = Eigen::Map<const Vector<double>>(from->values.data(), to.size()).template cast<S>();
    };
    put(start.x, at.x);
    put(start.y, at.y);
    return at;
  }

 private:
  void resolve(const toml::table& root, const std::string& folder);
  void read_metrics(const toml::table& root);
  void require_capabilities() const;
};

}  // namespace obolus
