// From names to problems and optimisers. A new algorithm is one line in the file of its family (paper_optimisers.cpp,
// product_optimisers.cpp, first_order_optimisers.cpp), a new problem one line in problems.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/option_setter.hpp"
#include "config/section_reader.hpp"
#include "obolus/any/any_oracle.hpp"
#include "obolus/any/session.hpp"
#include "obolus/core/preset.hpp"
#include "obolus/metrics/bound.hpp"
#include "obolus/optimisers/condition.hpp"
#include "obolus/optimisers/info.hpp"
#include "registry/option_lister.hpp"

namespace obolus::registry {

// A problem with its options read.
class PreparedProblem {
 public:
  virtual ~PreparedProblem() = default;
  [[nodiscard]] virtual std::string section() const = 0;          // lines of its config section
  [[nodiscard]] virtual std::uint64_t data_checksum() const = 0;  // of its data file; 0 without one
  [[nodiscard]] virtual std::shared_ptr<AnyOracle<double>> make_double(std::uint64_t seed) const = 0;
  [[nodiscard]] virtual std::shared_ptr<AnyOracle<float>> make_float(std::uint64_t seed) const = 0;
  template <class S>
  [[nodiscard]] std::shared_ptr<AnyOracle<S>> make(std::uint64_t seed) const {
    if constexpr (std::is_same_v<S, float>) return make_float(seed);
    else return make_double(seed);
  }
};

// An optimiser with its options read, its presets applied and its theory at hand.
class PreparedOptimiser {
 public:
  virtual ~PreparedOptimiser() = default;
  [[nodiscard]] virtual const OptimiserInfo& info() const = 0;
  [[nodiscard]] virtual std::string section() const = 0;
  [[nodiscard]] virtual std::optional<double> first_gamma() const = 0;  // none without an outer step in round 1
  [[nodiscard]] virtual bool draws() const = 0;                         // asks the problem for samples
  [[nodiscard]] virtual std::vector<Condition> conditions(const Constants& constants, Round horizon) const = 0;
  [[nodiscard]] virtual std::optional<Bound> bound(const Constants& constants, const BoundInputs& inputs) const = 0;
  [[nodiscard]] virtual std::optional<Bound> iteration_bound(const Constants& constants,
                                                             const BoundInputs& inputs) const = 0;
  [[nodiscard]] virtual std::unique_ptr<AnySession<double>> open(AnyOracle<double>& problem, const ConvexSet& set,
                                                                 In<double> x0, In<double> y0) const = 0;
  [[nodiscard]] virtual std::unique_ptr<AnySession<float>> open(AnyOracle<float>& problem, const ConvexSet& set,
                                                                In<float> x0, In<float> y0) const = 0;
};

// What an optimiser's section is read against.
struct Setting {
  Preset preset = Preset::standard;
  Constants constants;
  Round horizon = 1;
  std::span<const config::OptionValue> defaults = {};  // in place of the optimiser's own, where it has such options
};

struct ProblemEntry {
  std::string_view name, title;
  std::vector<OptionListing> (*options)();
  std::unique_ptr<PreparedProblem> (*read)(config::SectionReader& reader, const std::string& folder);
};

struct OptimiserEntry {
  OptimiserInfo info;
  std::vector<OptionListing> (*options)();
  std::unique_ptr<PreparedOptimiser> (*read)(config::SectionReader& reader, const Setting& setting);
};

[[nodiscard]] std::span<const OptimiserEntry> paper_optimisers();
[[nodiscard]] std::span<const OptimiserEntry> product_optimisers();
[[nodiscard]] std::span<const OptimiserEntry> first_order_optimisers();

// Throw ConfigError with the nearest valid name.
[[nodiscard]] const ProblemEntry& problem(const std::string& name);
[[nodiscard]] const OptimiserEntry& optimiser(const std::string& name);

template <class Entries>
[[nodiscard]] std::vector<std::string> names_of(const Entries& entries, auto&& name) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(name(entry));
  return names;
}

}  // namespace obolus::registry
