// OAGD (Tarzanagh et al., AISTATS 2024): K_t steps of y on g_t(x_t, ·), then past FUNCTIONS at the CURRENT point:
//     d_t = (1/W) Σ_{i<w} δ^i [f_x − g_xy v]_{t−i}(x_t, y_{t+1}),   g_yy v = f_y of round t − i,   W = Σ_{i<w} δ^i,
// with f_s = 0 for s ≤ 0. A round costs K g_y and, for every function of the window, one f_y, f_x and g_xy v and Q
// products.
//
// Sourced: the steps above, from the paper; and what the authors' code (github.com/BojianHou/OAGD) does otherwise.
// `inner_on = "window"`: instead of the K_t steps, one step of y on g_s(x_t, ·) for each round s of the window, the
// oldest first. `normalise = "stored"`: W = Σ δ^i over the min(w, t) rounds there have been. Besides, δ = 0.9, and a
// Neumann series of step 0.5 with 5 products for v, which diverges once L_g1 > 4. Ours: CG from zero as the default,
// and the series' step 1/L_g1.
#pragma once

#include "obolus/core/past_rounds.hpp"
#include "obolus/optimisers/implicit.hpp"

namespace obolus {

enum class ColdSolver : std::uint8_t { cg, neumann };
template <>
struct EnumNames<ColdSolver> {
  static constexpr std::array<std::pair<ColdSolver, std::string_view>, 2> values{
      {{ColdSolver::cg, "cg"}, {ColdSolver::neumann, "neumann"}}};
};

enum class InnerOn : std::uint8_t { round, window };
template <>
struct EnumNames<InnerOn> {
  static constexpr std::array<std::pair<InnerOn, std::string_view>, 2> values{
      {{InnerOn::round, "round"}, {InnerOn::window, "window"}}};
};

struct OagdOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule inner_steps = 5.0;
  InnerOn inner_on = InnerOn::round;
  std::int64_t window = 5;
  double decay = 1.0;
  Normalise normalise = Normalise::window;
  Schedule system_steps = 5.0;
  ColdSolver system_solver = ColdSolver::cg;
  std::optional<double> L_g1 = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("inner_steps", inner_steps, "K_t, steps of y per round when inner_on = \"round\"", Range::count());
    v("inner_on", inner_on, "round: K_t steps on the round's g; window: one on each g of the window, the oldest first");
    v("window", window, "w, past functions evaluated at the current point", Range::between(1, 1e6));
    v("decay", decay, "δ, weight of a round's function against the one after it", Range::between(0, 1));
    v("normalise", normalise, "divide by the weights of: window: all w places; stored: the rounds there have been");
    v("system_steps", system_steps, "Q_t, products per linear system", Range::count());
    v("system_solver", system_solver, "cg: conjugate gradients from zero; neumann: Q + 1 terms of the series");
    v("L_g1", L_g1, "L of the Neumann series; unset: in configs the problem's own, else 1/α_1", Range::positive());
    inner.describe(v);
    outer.describe(v);
  }
};

class Oagd : public ImplicitOptimiser<OagdOptions> {
 public:
  static constexpr OptimiserInfo info{"oagd", "OAGD: windowed past functions at the current point",
                                      "Tarzanagh et al., AISTATS 2024", /*needs_hvp=*/true};
  using ImplicitOptimiser::ImplicitOptimiser;

  template <class P>
  struct State : ImplicitState<P> {
    Vector<ScalarOf<P>> h;  // scratch
    State(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) : ImplicitState<P>(p, x0, y0), h(x0.size()) {}
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    project_start(s);
    return s;
  }

  template <HvpOracle P>
    requires Stream<P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const std::int64_t iterations = descend_all(p, s);
    Step report{.inner_iterations = iterations, .steps_y = iterations};
    s.direction.setZero();
    double weight = 1.0;
    PastRounds<P>(p, s.t, options_.window).each([&](std::int64_t) {
      if (report.status != Status::ok) return;
      if (!refresh_outer_gradient<P>(p, s)) report.status = Status::non_finite_inner;
      else if (!solve<P>(p, s)) report.status = Status::non_finite_system;
      else add_gradient<P>(p, s, weight);
      weight *= options_.decay;
    });
    s.direction /= ScalarOf<P>(divisor(options_.normalise, options_.decay, options_.window, s.t));
    return outer_update(options_.gamma(s.t), s, report);
  }

 private:
  // The steps of y; returns their number.
  template <class P>
  [[nodiscard]] std::int64_t descend_all(P& p, State<P>& s) const {
    const double alpha = options_.alpha(s.t);
    std::int64_t steps = 0;
    const auto step = [&](std::int64_t) {
      descend<P>(p, s, alpha);
      ++steps;
    };
    if (options_.inner_on == InnerOn::window) PastRounds<P>(p, s.t, options_.window).each_oldest_first(step);
    else
      for (std::int64_t k = options_.inner_steps.count(s.t); k > 0; --k) step(k);
    return steps;
  }

  template <class P>
  void add_gradient(P& p, State<P>& s, double weight) const {
    implicit_gradient<P>(p, s, s.h);
    s.direction += ScalarOf<P>(weight) * s.h;
  }

  template <class P>
  [[nodiscard]] bool solve(P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    const std::int64_t steps = options_.system_steps.count(s.t);
    if (options_.system_solver == ColdSolver::cg) {
      s.v.setZero();
      const auto apply = [&](In<S> u, Out<S> out) { p.inner_hvp_yy(s.x, s.y_dense, u, out); };
      const CgOptions options{
          .max_iterations = steps, .relative_tolerance = 1e-15, .damping = options_.inner.weight_decay};
      return !conjugate_gradient<S>(apply, s.f_y, s.v, s.cg, options).non_finite && s.v.allFinite();
    }
    const S inverse = S(1.0 / options_.L_g1.value_or(1.0 / options_.alpha(1)));
    s.v = inverse * s.f_y;  // v_{k+1} = f_y/L + (I − (g_yy + w)/L) v_k
    for (std::int64_t q = 0; q < steps; ++q) {
      inner_product_yy<P>(p, s);
      s.v += inverse * (s.f_y - s.product);
    }
    return s.v.allFinite();
  }
};

}  // namespace obolus
