#include <array>

#include "obolus/optimisers/af2obo.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/bome.hpp"
#include "obolus/optimisers/f2obo.hpp"
#include "obolus/optimisers/f2sa.hpp"
#include "obolus/optimisers/f3sa.hpp"
#include "obolus/optimisers/fixed.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/oagd.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/pbgd.hpp"
#include "obolus/optimisers/presets.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/with_finite_differences.hpp"
#include "obolus/optimisers/zo_sogd.hpp"
#include "registry/registry.hpp"

namespace obolus::registry {
namespace {

template <class Optimiser>
class Prepared final : public PreparedOptimiser {
  using Options = typename Optimiser::Options;

 public:
  // A preset first, then what the section says.
  Prepared(config::SectionReader& reader, const Setting& setting) {
    if constexpr (requires { apply_preset(setting.preset, options_, setting.constants, setting.horizon); })
      apply_preset(setting.preset, options_, setting.constants, setting.horizon);
    else if (setting.preset != Preset::standard)
      reader.reject("preset", fmt::format("\"default\": {} has no other preset", Optimiser::info.name));
    options_.describe(reader);
    if constexpr (requires { options_.L_g1; })
      if (!options_.L_g1 && std::isfinite(setting.constants.L_g1)) options_.L_g1 = setting.constants.L_g1;
    validate(options_, reader.section());
  }

  [[nodiscard]] const OptimiserInfo& info() const override { return Optimiser::info; }
  [[nodiscard]] std::string section() const override { return config::section_lines(options_); }
  [[nodiscard]] std::optional<double> first_gamma() const override {
    if constexpr (requires { options_.gamma; }) return options_.gamma(1);
    else return std::nullopt;
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
constexpr OptimiserEntry entry() {
  return {Optimiser::info, &option_listing<typename Optimiser::Options>,
          [](config::SectionReader& reader, const Setting& setting) -> std::unique_ptr<PreparedOptimiser> {
            return std::make_unique<Prepared<Optimiser>>(reader, setting);
          }};
}

// clang-format off: one line an algorithm
const std::array optimisers{
    entry<F2obo>(),
    entry<F2oboSingleLoop>(),
    entry<Af2obo>(),
    entry<Sf2obo>(),
    entry<Oagd>(),
    entry<Sobow>(),
    entry<Obbo>(),
    entry<Sobbo>(),
    entry<Fsobo>(),
    entry<Aobo>(),
    entry<Sogd>(),
    entry<ZoSogd>(),
    entry<FsoboDifferences>(),
    entry<AoboDifferences>(),
    entry<F2sa>(),
    entry<F3sa>(),
    entry<Bome>(),
    entry<Pbgd>(),
    entry<Fixed>(),
};
// clang-format on

}  // namespace

const OptimiserEntry& optimiser(const std::string& name) {
  for (const OptimiserEntry& e : optimisers)
    if (e.info.name == name) return e;
  throw ConfigError("optimiser.name: there is no optimiser '" + name + "'" +
                    suggestion(name, names_of(optimisers, [](const auto& e) { return e.info.name; })));
}

}  // namespace obolus::registry

namespace obolus {
std::vector<Listing> list_optimisers() {
  std::vector<Listing> list;
  for (const auto& e : registry::optimisers)
    list.push_back({std::string(e.info.name), std::string(e.info.title), std::string(e.info.citation), e.options()});
  return list;
}
}  // namespace obolus
