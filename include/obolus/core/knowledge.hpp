// What a problem may know about itself beyond its oracles: the theory's constants and its drift.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <string>

#include "obolus/core/index.hpp"

namespace obolus {

class ConvexSet;

// Assumptions 1 to 3 of the paper. Infinity means: no such constant on this domain.
struct Constants {
  static constexpr double none = std::numeric_limits<double>::infinity();
  double L_f0 = none;  // Lipschitz constant of f
  double L_f1 = none;  // of ∇f
  double L_g1 = none;  // of ∇g, jointly in (x, y)
  double L_g2 = none;  // of g_xy and g_yy
  double L_yy = none;  // of ∇_y g in y alone: bounds the step size of y; may be an estimate
  double mu_g = 0.0;   // strong convexity of g in y
  double M = none;     // bound of |F|
  double sigma = 0.0;  // Assumption 3: deviation of a sampled gradient of f and of g
  std::string region;  // where they hold, when not everywhere

  [[nodiscard]] double kappa() const { return L_g1 / mu_g; }
  // Lemma 3: F is L_F-smooth.
  [[nodiscard]] double L_F() const {
    const double m = mu_g;
    return L_f1 + L_f0 * L_g2 / m + 2 * L_g1 * L_f1 / m + L_g1 * L_g1 * L_f1 / (m * m) +
           2 * L_f0 * L_g1 * L_g2 / (m * m) + L_f0 * L_g1 * L_g1 * L_g2 / (m * m * m);
  }
  // |∇F − ∇L*_λ| ≤ D_1/λ. The paper never defines D_1; this value is Lemma 3.1 of Kwon et al. (2023) at y = y*_λ with
  // |y* − y*_λ| ≤ 2 L_f0/(λ μ_g).
  [[nodiscard]] double D_1() const { return 4 * L_f0 * L_g1 / (mu_g * mu_g) * (L_f1 + 2 * L_f0 * L_g2 / mu_g); }
};

// The terms that round t adds to V_T, H_2T and the sums E: suprema of the change from round t − 1, where known. The
// norm of a matrix is the spectral one.
struct Variation {
  std::optional<double> value;                  // sup_x |F_{t−1} − F_t|
  std::optional<double> solution;               // sup_x |y*_{t−1} − y*_t|²
  std::optional<double> outer_gradient;         // sup_{x,y} |∇_y f_{t−1} − ∇_y f_t|²
  std::optional<double> inner_gradient;         // sup_{x,y} |∇_y g_{t−1} − ∇_y g_t|²
  std::optional<double> outer_gradient_x = {};  // sup_{x,y} |∇_x f_{t−1} − ∇_x f_t|²
  std::optional<double> inner_hessian = {};     // sup_{x,y} |∇²_yy g_{t−1} − ∇²_yy g_t|²
  std::optional<double> inner_cross = {};       // sup_{x,y} |∇²_xy g_{t−1} − ∇²_xy g_t|²
};

template <class P>
concept KnowsConstants = requires(P& p, const ConvexSet& set) {
  { p.constants(set) } -> std::convertible_to<Constants>;
};

// The smoothness of g in y; may be an estimate from some rounds.
template <class P>
concept EstimatesSmoothness = requires(P& p, const ConvexSet& set) {
  { p.inner_smoothness(set) } -> std::convertible_to<double>;
};

template <class P>
concept KnowsVariation = requires(P& p, Round t, const ConvexSet& set) {
  { p.variation(t, set) } -> std::convertible_to<Variation>;  // t ≥ 2; leaves the current round alone
};

}  // namespace obolus
