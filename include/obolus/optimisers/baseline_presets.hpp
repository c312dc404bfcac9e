// Presets of the methods that the paper compares with: its experiments' values. Their own papers' theory is not here.
#pragma once

#include <string>
#include <string_view>

#include "obolus/core/error.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/theory.hpp"

namespace obolus {

namespace theory {

// Appendix "Experimental Details": α = 0.1 and γ = 0.001 for all. What is special to a method (K = 5, Q = 5, δ = 0.1, w = 50 for
// SOBBO, η = 0.9 for SOGD) is its default already.
template <class Options>
void apply_baseline(Preset preset, Options& o, std::string_view optimiser) {
  if (preset != Preset::standard && preset != Preset::paper)
    throw ConfigError("optimiser.preset: got \"" + std::string(name_of(preset)) +
                      "\", expected \"default\" or \"paper\": " + std::string(optimiser) + " has no other preset");
  o = Options{};
  if (preset == Preset::paper) o.gamma = 0.001;
}

}  // namespace theory

inline void apply_preset(Preset preset, SobowOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Sobow::info.name);
}
inline void apply_preset(Preset preset, ObboOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Obbo::info.name);
}
inline void apply_preset(Preset preset, FsoboOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Fsobo::info.name);
}
inline void apply_preset(Preset preset, AoboOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Aobo::info.name);
}
inline void apply_preset(Preset preset, SobboOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Sobbo::info.name);
}
inline void apply_preset(Preset preset, SogdOptions& o, const Constants&, Round) {
  theory::apply_baseline(preset, o, Sogd::info.name);
}

}  // namespace obolus
