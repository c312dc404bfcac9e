// Algorithms 1, 2 and 3 of the paper, line by line: slow, plain and written separately from the library. A reference
// uses only the four gradients of a problem (and `reveal`, `resample`), makes a vector for every quantity, does its own
// arithmetic in double and its own projections by bisection. docs/concepts.md defines the warm starts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::test {

using Real = Vector<double>;

// ---- argmin_{u ∈ X} <d, u> + |u − x|²/(2γ) = the point of X nearest to x − γd --------------------------------------

struct SlowSet {
  std::string name;
  ConvexSet set;                             // the library's
  std::function<Real(const Real&)> nearest;  // ours
};

// `shrunk(θ)` has a norm that falls with θ; the first θ ≥ 0 at which it is `radius` or less, to the last bit.
inline Real bisect(const Real& v, double radius, double (*norm)(const Real&), Real (*shrunk)(const Real&, double)) {
  if (norm(v) <= radius) return v;
  double low = 0.0, high = 1.0;
  while (norm(shrunk(v, high)) > radius) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    (norm(shrunk(v, middle)) > radius ? low : high) = middle;
  }
  return shrunk(v, high);
}

inline Real nearest_in_l2_ball(const Real& v, double radius) {
  return bisect(
      v, radius, [](const Real& u) { return u.norm(); },
      [](const Real& u, double theta) -> Real { return u / (1.0 + theta); });
}

inline Real nearest_in_l1_ball(const Real& v, double radius) {
  return bisect(
      v, radius, [](const Real& u) { return u.cwiseAbs().sum(); },
      [](const Real& u, double theta) -> Real {
        return u.unaryExpr([theta](double a) { return std::copysign(std::max(std::abs(a) - theta, 0.0), a); });
      });
}

// (v − θ)⁺ with the θ at which it sums to 1; shifted so that θ = 0 gives a sum of at least 1.
inline Real nearest_in_simplex(const Real& v) {
  const Real shifted = v.array() - (v.minCoeff() - 1.0);
  return bisect(
      shifted, 1.0, [](const Real& u) { return u.sum(); },
      [](const Real& u, double theta) -> Real { return (u.array() - theta).cwiseMax(0.0); });
}

// Every set of the library, of a size that the trajectories of the tests touch.
inline std::vector<SlowSet> slow_sets(Index dim_x) {
  const Real lower = Real::LinSpaced(dim_x, -0.3, -0.05), upper = Real::LinSpaced(dim_x, 0.02, 0.4);
  return {
      {"all", ConvexSet::all(), [](const Real& v) { return v; }},
      {"box", ConvexSet::box(-0.2, 0.25), [](const Real& v) -> Real { return v.cwiseMax(-0.2).cwiseMin(0.25); }},
      {"box by coordinate", ConvexSet::box(lower, upper),
       [=](const Real& v) -> Real { return v.cwiseMax(lower).cwiseMin(upper); }},
      {"l2_ball", ConvexSet::l2_ball(0.4), [](const Real& v) { return nearest_in_l2_ball(v, 0.4); }},
      {"l1_ball", ConvexSet::l1_ball(0.6), [](const Real& v) { return nearest_in_l1_ball(v, 0.6); }},
      {"simplex", ConvexSet::simplex(), [](const Real& v) { return nearest_in_simplex(v); }},
      {"nonnegative", ConvexSet::nonnegative(), [](const Real& v) -> Real { return v.cwiseMax(0.0); }},
  };
}

// ---- Parameters ----------------------------------------------------------------------------------------------------

enum class Warm { separate, tied, dual };

struct SlowParameters {
  std::function<double(Round)> alpha, gamma;
  std::function<double(Round, double)> beta;  // of t and λ_t
  double lambda1 = 5.0, tau = 1.0;
  Warm warm = Warm::separate;
  std::function<std::int64_t(Round)> inner_steps = [](Round) { return 1; };  // K_t, Algorithms 1 and 3
  double delta_y = 0.0, delta_z = 0.0;                                       // Algorithm 2
  std::int64_t max_inner = 0;
  double inner_momentum = 0.0, inner_decay = 0.0;  // μ and w of docs/algorithms/inner-solvers.md
  double outer_momentum = 0.0, outer_decay = 0.0;  // of docs/algorithms/outer-steps.md
  bool fresh = false;  // Algorithm 3 as printed; otherwise one draw per round, as in the paper's experiment
  std::function<std::int64_t(Round)> batch = [](Round) { return 1; },
                                     outer_batch = [](Round) { return 1; };  // B_t, B̂_t
};

// ---- The algorithms ------------------------------------------------------------------------------------------------

template <class P>
class SlowReference {
  using S = ScalarOf<P>;
  P& p_;
  SlowParameters o_;
  SlowSet set_;

 public:
  // (x, y) is what is committed for round t + 1; d, λ and the rest belong to round t, the last one done.
  Round t = 0;
  double lambda = 0.0;
  Real x, y, z, d;
  Real w;              // λ(y − z); under "dual" this is what carries over, and y follows from it
  Real m_z, m_y, m_x;  // momenta; y's is in units of the gradient divided by λ
  std::int64_t steps_y = 0, steps_z = 0;
  bool capped = false;
  double closest = std::numeric_limits<double>::infinity();  // smallest |norm − δ|/δ that decided a loop of Algorithm 2

  SlowReference(P& problem, SlowParameters parameters, SlowSet set, const Real& x1, const Real& y1)
      : p_(problem),
        o_(std::move(parameters)),
        set_(std::move(set)),
        x(set_.nearest(x1)),
        y(y1),
        z(y1),
        w(y1 - y1),
        m_z(w),
        m_y(w),
        m_x(x1 - x1) {}

  [[nodiscard]] const SlowParameters& parameters() const { return o_; }

  void algorithm1() {
    receive();
    for (std::int64_t k = 1; k <= o_.inner_steps(t); ++k) inner_iteration();
    outer_step();
  }

  void algorithm2() {
    receive();
    steps_z = steps_y = 0;
    capped = false;
    while (outside(g_y(z).norm(), o_.delta_z) && steps_z < o_.max_inner) {
      step_z();
      ++steps_z;
    }
    if (g_y(z).norm() > o_.delta_z) capped = true;
    while (outside(L_y(y).norm(), o_.delta_y) && steps_y < o_.max_inner) {
      step_y();
      ++steps_y;
    }
    if (L_y(y).norm() > o_.delta_y) capped = true;
    w = lambda * (y - z);
    outer_step();
  }

  // `rng` belongs to the whole run, its child ("samples", t) to round t.
  void algorithm3(const Rng& rng) {
    receive();
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(t));
    if (!o_.fresh) p_.resample({o_.batch(t), o_.batch(t)}, draws);
    for (std::int64_t k = 1; k <= o_.inner_steps(t); ++k) {
      if (o_.fresh) p_.resample({o_.batch(t), o_.batch(t)}, draws);
      inner_iteration();
    }
    if (o_.fresh) p_.resample({o_.outer_batch(t), o_.outer_batch(t)}, draws);
    outer_step();
  }

 private:
  void receive() {
    ++t;
    p_.reveal(t);
    const double last = lambda;
    // Λ(t, λ_t) = (1 + 1/t)^τ λ_t
    lambda = t == 1 ? o_.lambda1 : std::pow(1.0 + 1.0 / static_cast<double>(t - 1), o_.tau) * lambda;
    if (o_.warm == Warm::tied) y = z;
    if (o_.warm == Warm::dual) y = z + w / lambda;
    if (o_.warm == Warm::tied) m_y = m_z;
    if (o_.warm == Warm::dual && t > 1) m_y = m_z + last / lambda * (m_y - m_z);
  }

  [[nodiscard]] bool heavy() const { return o_.inner_momentum != 0.0 || o_.inner_decay != 0.0; }
  void step_z() {
    if (!heavy()) {
      z = z - o_.alpha(t) * g_y(z);
      return;
    }
    m_z = o_.inner_momentum * m_z + g_y(z);
    z = z - o_.alpha(t) * m_z;
  }
  void step_y() {
    if (!heavy()) {
      y = y - beta() * L_y(y);
      return;
    }
    m_y = o_.inner_momentum * m_y + L_y(y) / lambda;
    y = y - beta() * lambda * m_y;
  }

  void inner_iteration() {
    if (heavy()) {
      step_z();
      step_y();
      w = lambda * (y - z);
    } else if (o_.warm == Warm::dual) {
      const Real at_z = g_y(z), at_y = g_y(y);
      w = w - lambda * beta() * f_y(y) - lambda * (lambda * beta() * at_y - o_.alpha(t) * at_z);
      z = z - o_.alpha(t) * at_z;
      y = z + w / lambda;
    } else {
      step_z();
      step_y();
    }
  }

  void outer_step() {
    d = f_x(y) + lambda * (g_x(y) - g_x(z));
    m_x = o_.outer_momentum * m_x + d + o_.outer_decay * x;
    x = set_.nearest(x - o_.gamma(t) * m_x);
  }

  [[nodiscard]] double beta() const { return o_.beta(t, lambda); }
  bool outside(double norm, double delta) {
    closest = std::min(closest, std::abs(norm - delta) / delta);
    return norm > delta;
  }

  Real f_x(const Real& at) {
    return ask(&SlowReference::x, at, [this](auto&&... a) { p_.outer_gradient_x(a...); });
  }
  Real f_y(const Real& at) {
    return ask(&SlowReference::y, at, [this](auto&&... a) { p_.outer_gradient_y(a...); });
  }
  Real g_x(const Real& at) {
    return ask(&SlowReference::x, at, [this](auto&&... a) { p_.inner_gradient_x(a...); });
  }
  // Of g + w|y|²/2.
  Real g_y(const Real& at) {
    return ask(&SlowReference::y, at, [this](auto&&... a) { p_.inner_gradient_y(a...); }) + o_.inner_decay * at;
  }
  Real L_y(const Real& at) { return f_y(at) + lambda * g_y(at); }

  // A gradient with respect to x or y at (x, at), as long as that variable is.
  template <class Call>
  Real ask(Real SlowReference::* variable, const Real& at, Call&& call) {
    const Vector<S> outer = x.cast<S>(), inner = at.cast<S>();
    Vector<S> gradient((this->*variable).size());
    call(outer, inner, gradient);
    return gradient.template cast<double>();
  }
};

}  // namespace obolus::test
