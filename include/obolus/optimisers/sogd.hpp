// SOGD (Nazari et al. 2025): momentum of the STORM kind on y, v and x at once. With u = (x, y, v) and
//     D_y = g_y,   D_v = g_yy v − f_y,   D_x = f_x − g_xy v,
//     d_t = D(u_t) + (1 − η_t)(d_{t−1} − D(u_{t−1})),   d_1 = D(u_1),
// both D with the CURRENT functions and the SAME sample;  y ← y − y_step d^y,  v ← Proj(v − v_step d^v),  x-step along
// d^x, all from u_t. A round costs two calls of each kind (g_y, f_y, f_x, g_yy v, g_xy v), the first round one.
//
// Sourced: the steps, in our sign of v. Ours: constant steps and momenta by default (theory: steps ∝ (c + t)^(−1/3),
// momenta ∝ step²) and no bound on v unless given. An η_t above 1 is used as it is: cap the schedule
// (`most` in a config).
#pragma once

#include "obolus/optimisers/momentum.hpp"

namespace obolus {

struct SogdOptions {
  Schedule y_step = 0.1;
  Schedule v_step = 0.1;
  Schedule gamma = 0.01;
  Schedule momentum = 0.9;
  std::optional<Schedule> momentum_x = {}, momentum_y = {}, momentum_v = {};
  std::optional<double> radius = {};
  RoundSamples samples = RoundSamples::round;
  Schedule batch = 256.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_momentum(*this, v);
    outer.describe(v);
  }
};

class Sogd : public MomentumOptimiser<SogdOptions> {
 public:
  static constexpr OptimiserInfo info{"sogd", "SOGD: momentum on y, v and x, one step of each per round",
                                      "Nazari et al. 2025", /*needs_hvp=*/true, /*stochastic=*/true};
  using MomentumOptimiser::MomentumOptimiser;

  template <class P>
  struct State : MomentumState<P> {
    Vector<ScalarOf<P>> f_y, cross;  // scratch
    State(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0)
        : MomentumState<P>(p, x0, y0), f_y(y0.size()), cross(x0.size()) {}
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    project_start(s);
    return s;
  }

  template <HvpOracle P>
    requires StochasticOracle<P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    using S = ScalarOf<P>;
    return momentum_step<P>(p, s, rng, [&](In<S> x, In<S> y, In<S> v, Triple<S>& d) {
      p.inner_gradient_y(x, y, d.y);
      p.inner_hvp_yy(x, y, v, d.v);
      p.outer_gradient_y(x, y, s.f_y);
      d.v -= s.f_y;
      p.outer_gradient_x(x, y, d.x);
      p.inner_hvp_xy(x, y, v, s.cross);
      d.x -= s.cross;
    });
  }
};

}  // namespace obolus
