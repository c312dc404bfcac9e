// SOGD (Nazari et al. 2025): momentum of the STORM kind on y, v and x at once. With u = (x, y, v) and
//     D_y = g_y,   D_v = g_yy v − f_y,   D_x = f_x − g_xy v,
//     d_t = D(u_t) + (1 − η_t)(d_{t−1} − D(u_{t−1})),   d_1 = D(u_1),
// both D with the CURRENT functions and the SAME sample;  y ← y − y_step d^y,  v ← Proj(v − v_step d^v),  x-step along
// d^x, all from u_t. A round costs two calls of each kind (g_y, f_y, f_x, g_yy v, g_xy v), the first round one.
//
// Sourced: the steps, in our sign of v. Ours: constant steps and momenta by default (theory: steps ∝ (c + t)^(−1/3),
// momenta ∝ step²) and no bound on v unless given. An η_t above 1 is used as it is: cap the schedule
// (`most` in a config).
//
// A problem may store y, v and their momenta itself and take the whole round (core/whole_rounds.hpp).
#pragma once

#include "obolus/core/whole_rounds.hpp"
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
    using S = ScalarOf<P>;
    using Dense = MomentumState<P>;
    std::optional<Momentum<P>> rows;  // y, v and their momenta in the problem's storage; dense ones are empty then
    Index size_of_y;
    bool loaded_dense = false;  // by an older archive; `rows` do not have them yet
    Vector<S> f_y, cross;       // scratch

    State(P& p, In<S> x0, In<S> y0)
        : Dense(p, x0, y0, !holds_momentum(p)), size_of_y(y0.size()), f_y(this->y.size()), cross(x0.size()) {
      if constexpr (HoldsMomentum<P>) {
        if (!holds_momentum(p)) return;
        const Vector<S> none = Vector<S>::Zero(y0.size()), start = y0;
        rows.emplace(p.make_momentum());
        p.momentum_from_dense({cross.setZero(), start, none, none, none, 0.0, 0.0, 1.0}, *rows);
      }
    }

    void fields(Archive& a) {
      if (!rows) return Dense::fields(a);
      a("t", this->t);
      a("x", this->x);
      a("direction", this->direction);
      if (a.loading()) loaded_dense = !a.has("rows");
      if (!loaded_dense) {
        a("rows", *rows);
      } else {
        if (a.loading()) resize(size_of_y);
        this->fields_of_y(a);
      }
      a("outer", this->outer);
    }

    void resize(Index size) {
      for (Vector<S>* each : {&this->y, &this->v, &this->d_y, &this->d_v, &this->last.y, &this->last.v})
        each->resize(size);
    }
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
    if constexpr (HoldsMomentum<P>)
      if (s.rows) return step_of_rows(p, s, rng);
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

  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    if constexpr (HoldsMomentum<P>)
      if (s.rows) {
        take_loaded(p, s);
        return p.momentum_y(*s.rows, out);
      }
    out = s.y;
  }

 private:
  template <HoldsMomentum P>
  Step step_of_rows(P& p, State<P>& s, const Rng& rng) const {
    take_loaded(p, s);
    ++s.t;
    draw_round(p, s.t, rng);
    const auto keep = [&](const std::optional<Schedule>& own) {
      return s.t == 1 ? 0.0 : 1.0 - own.value_or(options_.momentum)(s.t);
    };
    Step report{.inner_iterations = 1, .steps_y = 1};
    report.status = p.momentum_round(s.x, *s.rows,
                                     {options_.y_step(s.t), options_.v_step(s.t), keep(options_.momentum_y),
                                      keep(options_.momentum_v), options_.radius, s.t == 1},
                                     s.direction);
    if (draws_any(options_.samples)) p.expectation();
    return outer_update(options_.gamma(s.t), s, report);
  }

  // An older archive has u_t as well, of which only the scale of v cannot be seen from u_{t−1} and d_{t−1}.
  template <HoldsMomentum P>
  void take_loaded(P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    if (!s.loaded_dense) return;
    s.loaded_dense = false;
    if (s.t == 0) {
      p.momentum_from_dense({s.last.x, s.y, s.v, s.d_y, s.d_v, 0.0, 0.0, 1.0}, *s.rows);
    } else {
      const double v_step = options_.v_step(s.t);
      double scale = 1.0;
      if (options_.radius) {
        s.raw.v = s.last.v - S(v_step) * s.d_v;
        const double norm = euclidean_norm<S>(s.raw.v);
        if (norm > 0.0) scale = euclidean_norm<S>(s.v) / norm;
        s.raw.v.resize(0);
      }
      p.momentum_from_dense({s.last.x, s.last.y, s.last.v, s.d_y, s.d_v, options_.y_step(s.t), v_step, scale}, *s.rows);
    }
    s.resize(0);
  }
};

}  // namespace obolus
