// The sections of a config, besides the options of problems and optimisers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/preset.hpp"

namespace obolus {

enum class Precision : std::uint8_t { single, full };
template <>
struct EnumNames<Precision> {
  static constexpr std::array<std::pair<Precision, std::string_view>, 2> values{
      {{Precision::full, "double"}, {Precision::single, "float"}}};
};

enum class SetName : std::uint8_t { all, box, l2_ball, l1_ball, simplex, nonnegative };
template <>
struct EnumNames<SetName> {
  static constexpr std::array<std::pair<SetName, std::string_view>, 6> values{{{SetName::all, "all"},
                                                                               {SetName::box, "box"},
                                                                               {SetName::l2_ball, "l2_ball"},
                                                                               {SetName::l1_ball, "l1_ball"},
                                                                               {SetName::simplex, "simplex"},
                                                                               {SetName::nonnegative, "nonnegative"}}};
};

namespace config {

void require_length(const Numbers& numbers, Index size, const char* name);

struct ProblemSection {
  std::string name;
  std::int64_t rounds = 1000;
  std::int64_t seed = 1;
  Precision precision = Precision::full;

  template <class V>
  void describe(V&& v) {
    v("name", name, "which problem: see `obolus list problems`");
    v("rounds", rounds, "T, number of rounds", Range::between(1, 1e15));
    v("seed", seed, "seed of everything random: the generated problem and the samples", Range::at_least(0));
    v("precision", precision, "scalar of x, y and all gradients");
  }
};

struct StartSection {
  static constexpr Range finite =
      Range::between(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
  std::optional<Numbers> x = {}, y = {};

  template <class V>
  void describe(V&& v) {
    v("x", x,
      "x_1, one number for all coordinates or a list, projected onto the domain; unset: the problem's own, 0 for most",
      finite);
    v("y", y, "y_1 = z_1, one number for all coordinates or a list; unset: the problem's own, 0 for most", finite);
  }
};

struct DomainSection {
  SetName set = SetName::all;
  Numbers lower = -std::numeric_limits<double>::infinity();
  Numbers upper = std::numeric_limits<double>::infinity();
  std::optional<double> radius = {};

  template <class V>
  void describe(V&& v) {
    v("set", set, "the feasible set X of x");
    v("lower", lower, "box: lower bounds, one number, or a list with one per coordinate");
    v("upper", upper, "box: upper bounds, one number, or a list with one per coordinate");
    v("radius", radius, "l2_ball, l1_ball: radius around 0", Range::positive());
  }

  [[nodiscard]] ConvexSet make(Index dim_x) const;
};

// The keys of [optimiser] besides the algorithm's own options.
struct OptimiserSection {
  std::string name;
  Preset preset = Preset::standard;
  std::optional<double> L_f0 = {}, L_f1 = {}, L_g2 = {}, mu_g = {}, M = {};

  template <class V>
  void describe(V&& v) {
    v("name", name, "which optimiser: see `obolus list optimisers`");
    v("preset", preset,
      "where the other options start from: default, paper (its experiments), theory (from constants and T), anytime "
      "(no T), orders (counts behind the orders in the paper's tables), authors (their code) or practical (steps from "
      "the smoothness of g, Adam on the logarithms of x)");
    v("L_f0", L_f0, "Lipschitz constant of f; unset: the problem's own, where it knows one", Range::at_least(0));
    v("L_f1", L_f1, "Lipschitz constant of ∇f; unset: the problem's own", Range::at_least(0));
    v("L_g2", L_g2, "Lipschitz constant of g_xy and g_yy; unset: the problem's own", Range::at_least(0));
    v("mu_g", mu_g, "strong convexity of g in y; unset: the problem's own", Range::positive());
    v("M", M, "bound of |F|; unset: the problem's own", Range::at_least(0));
  }

  void overlay(Constants& constants, std::optional<double> L_g1) const {
    const auto put = [](double& to, const std::optional<double>& from) { to = from.value_or(to); };
    put(constants.L_f0, L_f0);
    put(constants.L_f1, L_f1);
    put(constants.L_g1, L_g1);
    put(constants.L_g2, L_g2);
    put(constants.mu_g, mu_g);
    put(constants.M, M);
  }
};

struct MetricsSection {
  std::optional<double> gamma = {};
  bool regret = true;
  std::int64_t every = 1;
  std::int64_t evaluate_every = 0;
  std::int64_t reference_steps = 0, reference_products = 50;
  double reference_alpha = 0.1, reference_damping = 0.1;
  std::int64_t window = 0;
  double window_decay = 1.0;
  bool residuals = true;
  bool variation = true;
  std::int64_t samples = 16;
  bool variation_solves = false;
  bool bound = true;

  template <class V>
  void describe(V&& v) {
    v("gamma", gamma, "the γ of the regret; unset: the optimiser's γ of round 1", Range::positive());
    v("regret", regret, "measure the regret, with a reference hypergradient in every round");
    v("every", every,
      "measure one round in this many, and the last; above 1 only with regret = false or reference_steps",
      Range::at_least(1));
    v("evaluate_every", evaluate_every,
      "evaluate one round in this many, where the problem has evaluations; 0: the last round only", Range::at_least(0));
    v("reference_steps", reference_steps,
      "how ∇F_t is found. 0: solve the inner problem to rounding, if it is convex; N: N gradient steps from the "
      "committed y, then damped conjugate gradients; with every = n > 1 the regret is n times the sum over rounds n, "
      "2n, …, an estimate",
      Range::between(0, 1e9));
    v("reference_alpha", reference_alpha, "step size of those steps", Range::positive());
    v("reference_damping", reference_damping, "added to g_yy in those conjugate gradients", Range::at_least(0));
    v("reference_products", reference_products, "maximum number of products g_yy v in them", Range::between(1, 1e9));
    v("window", window,
      "w, rounds of the window-averaged regrets window_regret and trailing_regret, beside the plain one: w reference "
      "hypergradients per round; 0: not measured",
      Range::between(0, 1e6));
    v("window_decay", window_decay, "δ, weight of a round's function in the window against the one after it",
      Range::between(0, 1));
    v("residuals", residuals,
      "measure residual_y and residual_z, two or three more dense gradients per measured round");
    v("variation", variation, "measure V_T, H_2T, the sums E, P_T, E_2T and Psi_T");
    v("samples", samples, "sample points of an estimated supremum, where no closed form is known",
      Range::between(1, 1e6));
    v("variation_solves", variation_solves,
      "solve the inner problem at the sample points, twice per round, for V_T and H_2T where y* has no closed form; "
      "false: they are not measured there");
    v("bound", bound, "print the theorem's bound beside the measured regret, where constants are known");
  }
};

struct LogSection {
  bool vectors = false;
  std::int64_t every = 1;
  std::int64_t checkpoint_every = 0;
  double checkpoint_seconds = 10.0;

  template <class V>
  void describe(V&& v) {
    v("vectors", vectors, "write x and y into the trace");
    v("every", every, "write one round in this many, and the last and the evaluated ones", Range::at_least(1));
    v("checkpoint_every", checkpoint_every, "rounds between checkpoints; 0: by the clock only", Range::at_least(0));
    v("checkpoint_seconds", checkpoint_seconds, "seconds between checkpoints", Range::positive());
  }
};

}  // namespace config
}  // namespace obolus
