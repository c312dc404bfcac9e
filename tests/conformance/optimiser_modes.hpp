// Every registered optimiser in each of its modes: every word of every option that takes words is a mode.
#pragma once

#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "obolus/problems/quadratic.hpp"
#include "tests/conformance/registered.hpp"

namespace obolus::test {

// Stable on the quadratics below (|A| = 4): α < 1/|A|, β_t is α/λ_t or about half of it, and λ_t γ_t does not grow, as
// Theorem 2 asks where there is one inner step per round.
inline const Keys stable{{"alpha", "0.2"},    {"gamma", "{ scale = 0.1, power = -0.3333 }"},
                         {"lambda1", "5.0"},  {"beta", "{ scale = 0.02, power = -0.3333 }"},
                         {"tau", "0.3333"},   {"L_g1", "4.5"},
                         {"delta", "1e-4"},   {"delta_y", "1e-3"},
                         {"delta_z", "1e-5"}, {"max_inner", "2000"}};

// What some need as well. ZO-SOGD: d2 |A| α/b < 2. PBGD steps y along f_y + λ g_y: y_step λ|A| < 2. BOME's ŷ must be
// nearer than y, or its bias of (1 − α μ_g)^K stays.
inline const std::map<std::string, Keys> own{
    {"zo_sogd", {{"directions", "8"}}},
    {"pbgd", {{"y_step", "{ scale = 0.02, power = -0.3333 }"}, {"lambda1", "20.0"}}},
    {"bome", {{"inner_steps", "20"}}}};

struct OptimiserMode {
  std::string optimiser;
  Keys words;
  friend void PrintTo(const OptimiserMode& mode, std::ostream* out) {
    *out << mode.optimiser;
    for (const auto& [key, value] : mode.words) *out << ", " << key << " = " << value;
  }
  [[nodiscard]] bool has(const std::string& word) const {
    for (const auto& [key, value] : words)
      if (value == quoted(word)) return true;
    return false;
  }
  // Outer steps in logarithms need positive numbers.
  [[nodiscard]] bool positive() const { return has("entropy") || has("log_adam"); }
  // A control, which never moves x (fixed_test.cpp tests what it does).
  [[nodiscard]] bool leaves_x() const { return optimiser == "fixed"; }
  [[nodiscard]] Vector<double> start() const {
    return positive() ? Vector<double>::LinSpaced(4, 0.4, 0.1) : Vector<double>::LinSpaced(4, 0.9, -0.7);
  }
  [[nodiscard]] ConvexSet usual_set() const { return positive() ? ConvexSet::box(0.05, 0.5) : ConvexSet::l2_ball(0.5); }
  [[nodiscard]] bool needs_hvp() const { return registry::optimiser(optimiser).info.needs_hvp; }
  [[nodiscard]] ConvexSet unbounded_set() const { return positive() ? ConvexSet::nonnegative() : ConvexSet::all(); }
};

inline std::vector<OptimiserMode> optimiser_modes() {
  std::vector<OptimiserMode> all;
  for (const Listing& l : list_optimisers()) {
    all.push_back({l.name, {}});
    for (const OptionListing& option : l.options)
      for (const std::string& word : words_of(option)) all.push_back({l.name, {{option.name, quoted(word)}}});
    if (known_to(l, {{"order", ""}}).empty()) continue;
    for (const char* order : {"2", "3", "4", "5"}) all.push_back({l.name, {{"order", order}}});
    for (const auto& [key, word] : Keys{{"warm_start", "tied"},
                                        {"warm_start", "dual"},
                                        {"inner_solver", "nesterov"},
                                        {"inner_solver", "backtracking"},
                                        {"lambda_rule", "balance"}})
      all.push_back({l.name, {{"order", "2"}, {key, quoted(word)}}});
  }
  return all;
}

inline Keys all_keys(const OptimiserMode& mode) {
  Keys keys = known_to(listing_of(list_optimisers(), mode.optimiser), stable);
  if (const auto more = own.find(mode.optimiser); more != own.end())
    for (const auto& [key, value] : more->second) {
      std::erase_if(keys, [&](const auto& k) { return k.first == key; });
      keys.emplace_back(key, value);
    }
  keys.insert(keys.end(), mode.words.begin(), mode.words.end());
  return keys;
}

inline std::unique_ptr<registry::PreparedOptimiser> prepare(const OptimiserMode& mode) {
  return prepare_optimiser(mode.optimiser, all_keys(mode));
}

inline QuadraticOptions noisy_quadratic() {
  QuadraticOptions o;
  o.dim_x = 4;
  o.dim_y = 6;
  o.condition = 4.0;
  o.ridge = 1.0;
  o.sine = 0.3;
  o.drift = Drift::abrupt;
  o.period = 7;
  o.noise = 0.2;
  o.noise_cross = 0.1;
  return o;
}

inline const Vector<double> start_y = Vector<double>::LinSpaced(6, -0.5, 0.8);

// Only the modes that a suite applies to are enrolled in it.
inline std::vector<OptimiserMode> optimiser_modes_where(const std::function<bool(const OptimiserMode&)>& applies) {
  std::vector<OptimiserMode> chosen;
  for (const OptimiserMode& mode : optimiser_modes())
    if (applies(mode)) chosen.push_back(mode);
  return chosen;
}

inline std::string test_name(const OptimiserMode& mode) {
  std::string name = mode.optimiser;
  for (const auto& [key, value] : mode.words) name += "_" + key + "_" + value;
  std::erase_if(name, [](char c) { return c == '"'; });
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace obolus::test
