// The presets of the methods that the paper compares with: the values of its experiments, what it quotes of their
// theory (Tables 1 and 2), and OAGD as its authors' code has it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "obolus/core/knowledge.hpp"
#include "obolus/core/preset.hpp"
#include "obolus/optimisers/aobo.hpp"
#include "obolus/optimisers/fsobo.hpp"
#include "obolus/optimisers/oagd.hpp"
#include "obolus/optimisers/obbo.hpp"
#include "obolus/optimisers/preset_checks.hpp"
#include "obolus/optimisers/sobbo.hpp"
#include "obolus/optimisers/sobow.hpp"
#include "obolus/optimisers/sogd.hpp"
#include "obolus/optimisers/theorem_constants.hpp"

namespace obolus {

namespace theory {

// Tables 1 and 2 quote the orders of other methods' theorems; the constants in them are ours: steps of 1/L_g1, as many
// as steps_to_leave says. γ, of which they say nothing, is left alone.

// Table 1: O(T²) products, Q_t = t.
inline void set_orders(SobowOptions& o, const Constants& k, Round) {
  o.alpha = 1 / k.L_g1;
  o.system_steps = Schedule(1.0, 1.0);
}

// Table 1: O(T log T) gradients and products.
inline void set_orders(ObboOptions& o, const Constants& k, Round T) {
  o.alpha = 1 / k.L_g1;
  o.inner_steps = steps_to_leave(k, 1 / static_cast<double>(T));
}

// Table 1: O(T log T) gradients and products, which y's tolerance and v's steps share. δ is AF²OBO's δ_y.
inline void set_orders(AoboOptions& o, const Constants& k, Round T) {
  o.alpha = 1 / k.L_g1;
  o.delta = std::pow(static_cast<double>(T), -0.5);
  o.max_inner = inner_cap(k);
  o.system_steps = steps_to_leave(k, 1 / static_cast<double>(T));
}

// Table 2: O(T log w) products, for a regret of O(T/w): the bias of m terms, squared, is at most 1/w.
inline void set_orders(SobboOptions& o, const Constants& k, Round) {
  o.alpha = 1 / k.L_g1;
  o.estimator = Estimator::neumann;
  o.L_g1 = k.L_g1;
  o.system_steps = static_cast<std::int64_t>(std::min(1e9, steps_to_leave(k, 1 / static_cast<double>(o.window))));
  o.samples = Samples::fresh;
}

// Appendix "Experimental Details": α = 0.1 and γ = 0.001 for all. The rest (K = 5, Q = 5, δ = 0.1, w = 50 for SOBBO,
// η = 0.9 for SOGD) are defaults already.
template <class Options>
void apply_baseline(Preset preset, Options& o, const Constants& k, Round T, std::string_view optimiser) {
  constexpr bool has_orders = requires { set_orders(o, k, T); };
  constexpr std::array inner_constants{named_constants[3], named_constants[5]};  // L_g1 and μ_g
  const bool orders = has_orders && preset == Preset::orders;
  if (preset != Preset::standard && preset != Preset::paper && !orders)
    refuse(preset, optimiser, has_orders ? "\"default\", \"paper\" or \"orders\"" : "\"default\" or \"paper\"");
  if (orders) {
    check_horizon(T);
    require_constants(k, preset, optimiser, inner_constants);
  }
  o = Options{};
  if (preset == Preset::paper) o.gamma = 0.001;
  if constexpr (has_orders)
    if (orders) set_orders(o, k, T);
}

// github.com/BojianHou/OAGD, Hyperparameter-Optimization: main.py's defaults and train_epoch_online. The outer step
// there also waits for later epochs, and both step sizes warm up and fall; these are left out.
inline void set_authors(OagdOptions& o) {
  o = OagdOptions{};
  o.alpha = 0.1;
  o.gamma = 0.001;
  o.inner_on = InnerOn::window;
  o.window = 5;
  o.decay = 0.9;
  o.normalise = Normalise::stored;
  o.system_solver = ColdSolver::neumann;
  o.system_steps = 5.0;
  o.L_g1 = 2.0;  // their step of 0.5
  o.inner = {.momentum = 0.9, .weight_decay = 1e-4};
  o.outer.momentum = 0.9;
  o.outer.weight_decay = 1e-4;
}

}  // namespace theory

// The methods that the paper compares with: it quotes the orders of their bounds, not the constants of their steps, so
// that they have no `theory`.
inline void apply_preset(Preset preset, SobowOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Sobow::info.name);
}
inline void apply_preset(Preset preset, ObboOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Obbo::info.name);
}
inline void apply_preset(Preset preset, FsoboOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Fsobo::info.name);
}
inline void apply_preset(Preset preset, AoboOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Aobo::info.name);
}
inline void apply_preset(Preset preset, SobboOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Sobbo::info.name);
}
inline void apply_preset(Preset preset, SogdOptions& o, const Constants& k, Round T) {
  theory::apply_baseline(preset, o, k, T, Sogd::info.name);
}
inline void apply_preset(Preset preset, OagdOptions& o, const Constants&, Round) {
  if (preset == Preset::authors) theory::set_authors(o);
  else if (preset == Preset::standard) o = OagdOptions{};
  else theory::refuse(preset, Oagd::info.name, "\"default\" or \"authors\"");
}

}  // namespace obolus
