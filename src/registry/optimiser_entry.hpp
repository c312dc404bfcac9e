// An optimiser's options read from a config, and the entry that does it. Included only where entries are made: every
// optimiser is compiled here for float and for double.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "obolus/any/any_oracle.hpp"
#include "obolus/any/session.hpp"
#include "obolus/metrics/bounds.hpp"
#include "obolus/optimisers/presets.hpp"
#include "registry/registry.hpp"

namespace obolus::registry {

template <class Optimiser>
class OptimiserWithOptions final : public PreparedOptimiser {
  using Options = typename Optimiser::Options;

 public:
  // A preset first, then the setting's defaults, then what the section says.
  OptimiserWithOptions(config::SectionReader& reader, const Setting& setting) {
    if constexpr (requires { apply_preset(setting.preset, options_, setting.constants, setting.horizon); })
      apply_preset(setting.preset, options_, setting.constants, setting.horizon);
    else if (setting.preset != Preset::standard)
      reader.reject("preset", fmt::format("\"default\": {} has no other preset", Optimiser::info.name));
    options_.describe(config::OptionSetter(setting.defaults));
    options_.describe(reader);
    if constexpr (requires { options_.L_g1; })
      if (!options_.L_g1 && std::isfinite(setting.constants.L_g1)) options_.L_g1 = setting.constants.L_g1;
    validate(options_, reader.section());
  }

  [[nodiscard]] const OptimiserInfo& info() const override { return Optimiser::info; }
  [[nodiscard]] std::string section() const override { return config::section_lines(options_); }
  [[nodiscard]] std::optional<double> first_gamma() const override {
    if constexpr (requires { options_.gamma; })
      if (const double gamma = options_.gamma(1); gamma > 0) return gamma;
    return std::nullopt;
  }
  [[nodiscard]] bool draws() const override {
    if constexpr (requires { draws_any(options_.samples); }) return draws_any(options_.samples);
    else return Optimiser::info.stochastic;
  }
  [[nodiscard]] std::vector<Condition> conditions(const Constants& constants, Round horizon) const override {
    if constexpr (requires { theorem_conditions(options_, constants, horizon); })
      return theorem_conditions(options_, constants, horizon);
    else return {};
  }
  [[nodiscard]] std::optional<Bound> bound(const Constants& constants, const BoundInputs& inputs) const override {
    if constexpr (requires { regret_bound(options_, constants, inputs); })
      return regret_bound(options_, constants, inputs);
    else return std::nullopt;
  }
  [[nodiscard]] std::optional<Bound> iteration_bound(const Constants& constants,
                                                     const BoundInputs& inputs) const override {
    if constexpr (requires { obolus::iteration_bound(options_, constants, inputs); })
      return obolus::iteration_bound(options_, constants, inputs);
    else return std::nullopt;
  }
  [[nodiscard]] std::unique_ptr<AnySession<double>> open(AnyOracle<double>& problem, const ConvexSet& set,
                                                         In<double> x0, In<double> y0) const override {
    return std::make_unique<Session<Optimiser, AnyOracle<double>>>(Optimiser(options_, set), problem, x0, y0);
  }
  [[nodiscard]] std::unique_ptr<AnySession<float>> open(AnyOracle<float>& problem, const ConvexSet& set, In<float> x0,
                                                        In<float> y0) const override {
    return std::make_unique<Session<Optimiser, AnyOracle<float>>>(Optimiser(options_, set), problem, x0, y0);
  }

 private:
  Options options_;
};

template <class Optimiser>
constexpr OptimiserEntry optimiser_entry() {
  return {Optimiser::info, &option_listing<typename Optimiser::Options>,
          [](config::SectionReader& reader, const Setting& setting) -> std::unique_ptr<PreparedOptimiser> {
            return std::make_unique<OptimiserWithOptions<Optimiser>>(reader, setting);
          }};
}

}  // namespace obolus::registry
