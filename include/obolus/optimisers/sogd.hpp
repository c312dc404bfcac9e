// SOGD (Nazari et al. 2025): momentum of the STORM kind on y, v and x at once. With u = (x, y, v) and
//     D_y = g_y,   D_v = g_yy v − f_y,   D_x = f_x − g_xy v,
//     d_t = D(u_t) + (1 − η_t)(d_{t−1} − D(u_{t−1})),   d_1 = D(u_1),
// both D with the CURRENT functions and the SAME sample;  y ← y − y_step d^y,  v ← Proj(v − v_step d^v),  x-step along
// d^x, all from u_t. A round costs two calls of each kind (g_y, f_y, f_x, g_yy v, g_xy v), the first round one.
//
// Sourced: the steps, in our sign of v. Ours: constant steps and momenta by default (theory: steps ∝ (c + t)^(−1/3),
// momenta ∝ step²) and no bound on v unless given. An η_t above 1 is taken as it stands: give a schedule its `most`.
#pragma once

#include "obolus/core/archive.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/projection.hpp"
#include "obolus/optimisers/frame.hpp"
#include "obolus/optimisers/info.hpp"

namespace obolus {

// A point u, or a direction D(u).
template <class S>
struct Triple {
  Vector<S> x, y, v;
  explicit Triple(Dims dims) : x(Vector<S>::Zero(dims.x)), y(Vector<S>::Zero(dims.y)), v(Vector<S>::Zero(dims.y)) {}
  void fields(Archive& a) { a("x", x), a("y", y), a("v", v); }
};

template <class P>
struct MomentumState {
  using S = ScalarOf<P>;
  Round t = 0;          // rounds done
  Vector<S> x;          // committed for the round to come
  Vector<S> direction;  // d^x of the last round
  Vector<S> y, v;
  Vector<S> d_y, d_v;
  Triple<S> last;  // u_{t−1}
  OuterMemory<S> outer;
  Triple<S> raw;  // scratch

  MomentumState(P& p, In<S> x0, In<S> y0)
      : x(x0),
        direction(Vector<S>::Zero(x0.size())),
        y(y0),
        v(Vector<S>::Zero(y0.size())),
        d_y(v),
        d_v(v),
        last(p.dims()),
        raw(p.dims()) {}

  void fields(Archive& a) {
    a("t", t), a("x", x), a("direction", direction), a("y", y), a("v", v), a("d_y", d_y), a("d_v", d_v);
    a("last", last), a("outer", outer);
  }
};

// The options of SOGD and of its zeroth-order form, as members of their own (flat) options structs.
template <class Options, class V>
void describe_momentum(Options& o, V&& v) {
  v("y_step", o.y_step, "step size of y", Range::positive());
  v("alpha", o.y_step, "another name of y_step", Range::positive());
  v("v_step", o.v_step, "step size of v", Range::positive());
  v("gamma", o.gamma, "outer step size, γ_t", Range::positive());
  v("x_step", o.gamma, "another name of gamma", Range::positive());
  v("momentum", o.momentum, "η_t: 1 forgets the past, 0 never does", Range::between(0.0, 1.0));
  v("momentum_x", o.momentum_x, "η_t of x; unset: momentum", Range::between(0.0, 1.0));
  v("momentum_y", o.momentum_y, "η_t of y; unset: momentum", Range::between(0.0, 1.0));
  v("momentum_v", o.momentum_v, "η_t of v; unset: momentum", Range::between(0.0, 1.0));
  v("radius", o.radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
  v("batch", o.batch, "samples a round, used at both points", Range::count());
}

template <class OptionsType>
class MomentumOptimiser : public Frame<OptionsType> {
 public:
  using Frame<OptionsType>::Frame;

  template <FirstOrderOracle P>
  void copy_y(P&, MomentumState<P>& s, Out<ScalarOf<P>> out) const {
    out = s.y;
  }

 protected:
  // x_1 is projected onto X; v_1 = 0.
  template <class P>
  void start(MomentumState<P>& s) const {
    this->set_.template project<ScalarOf<P>>(s.x);
    s.outer = this->outer_.template init<ScalarOf<P>>(s.x);
  }

  // A round, where `ask(x, y, v, raw)` puts D(x, y, v) on the round's sample into raw.
  template <StochasticOracle P, class Ask>
  Step momentum_step(P& p, MomentumState<P>& s, const Rng& rng, Ask&& ask) const {
    const OptionsType& o = this->options_;
    ++s.t;
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
    const std::int64_t batch = o.batch.count(s.t);
    p.resample({batch, batch}, draws);
    if (s.t > 1) {  // d_0 = 0 makes d_1 the raw one
      ask(s.last.x, s.last.y, s.last.v, s.raw);
      keep(o.momentum_x, s.t, s.raw.x, s.direction);
      keep(o.momentum_y, s.t, s.raw.y, s.d_y);
      keep(o.momentum_v, s.t, s.raw.v, s.d_v);
    }
    ask(s.x, s.y, s.v, s.raw);
    p.expectation();
    s.direction += s.raw.x, s.d_y += s.raw.y, s.d_v += s.raw.v;
    s.last.x = s.x, s.last.y = s.y, s.last.v = s.v;
    return advance(s);
  }

 private:
  // d ← (1 − η)(d − D(u_{t−1}))
  template <class S>
  void keep(const std::optional<Schedule>& momentum, Round t, const Vector<S>& before, Vector<S>& d) const {
    d = S(1.0 - momentum.value_or(this->options_.momentum)(t)) * (d - before);
  }

  template <class P>
  Step advance(MomentumState<P>& s) const {
    using S = ScalarOf<P>;
    const OptionsType& o = this->options_;
    Step report{.inner_iterations = 1, .steps_y = 1};
    s.y -= S(o.y_step(s.t)) * s.d_y;
    s.v -= S(o.v_step(s.t)) * s.d_v;
    if (!s.y.allFinite()) report.status = Status::non_finite_inner;
    else if (!s.v.allFinite()) report.status = Status::non_finite_system;
    else if (o.radius) project_l2_ball<S>(s.v, *o.radius);
    return this->move(o.gamma(s.t), s, report);
  }
};

struct SogdOptions {
  Schedule y_step = 0.1;
  Schedule v_step = 0.1;
  Schedule gamma = 0.01;
  Schedule momentum = 0.9;
  std::optional<Schedule> momentum_x = {}, momentum_y = {}, momentum_v = {};
  std::optional<double> radius = {};
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
  static constexpr OptimiserInfo info{"sogd", "SOGD: momentum on y, v and x, one step of each a round",
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
    start<P>(s);
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
