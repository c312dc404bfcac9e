// What SOGD and its zeroth-order form share: momentum of the STORM kind (storm.hpp) on u = (x, y, v).
#pragma once

#include <cstdint>
#include <optional>

#include "obolus/core/archive.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/projection.hpp"
#include "obolus/core/samples.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"
#include "obolus/optimisers/storm.hpp"

namespace obolus {

// A point u, or a direction D(u).
template <class S>
struct Triple {
  Vector<S> x, y, v;
  explicit Triple(Dims dims) : x(Vector<S>::Zero(dims.x)), y(Vector<S>::Zero(dims.y)), v(Vector<S>::Zero(dims.y)) {}
  void fields(Archive& a) {
    a("x", x);
    a("y", y);
    a("v", v);
  }
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

  // Without numbers of size y where the problem stores y, v and their momenta itself.
  MomentumState(P& p, In<S> x0, In<S> y0, bool dense = true)
      : x(x0),
        direction(Vector<S>::Zero(x0.size())),
        y(dense ? Vector<S>(y0) : Vector<S>()),
        v(Vector<S>::Zero(y.size())),
        d_y(v),
        d_v(v),
        last({p.dims().x, y.size()}),
        raw(last) {}

  void fields(Archive& a) {
    a("t", t);
    a("x", x);
    a("direction", direction);
    fields_of_y(a);
    a("outer", outer);
  }

 protected:
  void fields_of_y(Archive& a) {
    a("y", y);
    a("v", v);
    a("d_y", d_y);
    a("d_v", d_v);
    a("last", last);
  }
};

// The options of SOGD and of its zeroth-order form, as members of their flat options structs.
template <class Options, class V>
void describe_momentum(Options& o, V&& v) {
  v("y_step", o.y_step, "step size of y", Range::positive());
  other_name(v, "alpha", "y_step", o.y_step, Range::positive());
  v("v_step", o.v_step, "step size of v", Range::positive());
  v("gamma", o.gamma, "outer step size, γ_t", Range::outer_step());
  other_name(v, "x_step", "gamma", o.gamma, Range::outer_step());
  v("momentum", o.momentum, "η_t: 1 forgets the past, 0 never does", Range::between(0.0, 1.0));
  v("momentum_x", o.momentum_x, "η_t of x; unset: momentum", Range::between(0.0, 1.0));
  v("momentum_y", o.momentum_y, "η_t of y; unset: momentum", Range::between(0.0, 1.0));
  v("momentum_v", o.momentum_v, "η_t of v; unset: momentum", Range::between(0.0, 1.0));
  v("radius", o.radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
  v("samples", o.samples, "round: one batch per round; given: none, the functions as the round reveals them");
  v("batch", o.batch, "samples per round, used at both points", Range::count());
}

template <class OptionsType>
class MomentumOptimiser : public OptimiserBase<OptionsType> {
 public:
  using OptimiserBase<OptionsType>::OptimiserBase;

  template <FirstOrderOracle P>
  void read_y(P&, MomentumState<P>& s, Out<ScalarOf<P>> out) const {
    out = s.y;
  }

 protected:
  // A round, where `ask(x, y, v, raw)` puts D(x, y, v) on the round's sample into raw.
  template <StochasticOracle P, class Ask>
  Step momentum_step(P& p, MomentumState<P>& s, const Rng& rng, Ask&& ask) const {
    const OptionsType& o = this->options_;
    ++s.t;
    draw_round(p, s.t, rng);
    const auto eta = [&](const std::optional<Schedule>& own) { return own.value_or(o.momentum)(s.t); };
    storm<ScalarOf<P>>(
        s.t,
        {{s.direction, s.raw.x, eta(o.momentum_x)},
         {s.d_y, s.raw.y, eta(o.momentum_y)},
         {s.d_v, s.raw.v, eta(o.momentum_v)}},
        [&] { ask(s.last.x, s.last.y, s.last.v, s.raw); }, [&] { ask(s.x, s.y, s.v, s.raw); });
    if (draws_any(o.samples)) p.expectation();
    s.last.x = s.x;
    s.last.y = s.y;
    s.last.v = s.v;
    return advance(s);
  }

  template <class P>
  void draw_round(P& p, Round t, const Rng& rng) const {
    if (!draws_any(this->options_.samples)) return;
    Rng draws = rng.child("samples", static_cast<std::uint64_t>(t));
    const std::int64_t batch = this->options_.batch.count(t);
    p.resample({batch, batch}, draws);
  }

 private:
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
    return this->outer_update(o.gamma(s.t), s, report);
  }
};

}  // namespace obolus
