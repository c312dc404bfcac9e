// FSOBO (Jia, Wang, Chen 2026), the fully single-loop method: y ← y − α g_y;  v ← v − η (g_yy v − f_y) at the new y;
// d = f_x − g_xy v;  x-step. A round costs one call of each kind: g_y, f_y, f_x, g_yy v, g_xy v.
//
// Reconstructed from the F²OBO paper's account (Table 1 forces one query of each kind per round). Our choices: the
// order y, v, x; η = α unless given; the projection |v| ≤ radius is off unless given (theory: L_f0/μ_g).
//
// y and v are inner iterates both: a problem with storage of its own keeps v in it too.
#pragma once

#include "obolus/core/heavy_ball.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"

namespace obolus {

struct FsoboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  std::optional<Schedule> v_step = {};
  std::optional<double> radius = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("v_step", v_step, "step size of v; unset: α_t", Range::positive());
    v("radius", radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
    inner.describe(v);
    outer.describe(v);
  }
};

template <class P>
struct FsoboState {
  using S = ScalarOf<P>;
  Round t = 0;          // rounds done
  Vector<S> x;          // committed for the round to come
  Vector<S> direction;  // d of the last round
  Inner<P> y, v;
  OuterMemory<S> outer;
  Index size_of_y;
  Vector<S> loaded_v;                        // dense, from an older archive; empty once v has it
  HeavyBall<P> ball;                         // of y
  InnerSpace<P> space;                       // scratch, as are the rest
  Vector<S> y_dense, v_dense, f_y, product;  // with momentum

  FsoboState(P& p, In<S> x0, In<S> y0)
      : x(x0),
        direction(Vector<S>::Zero(x0.size())),
        y(InnerSpace<P>(p).make(p, y0)),
        v(InnerSpace<P>(p).make(p, Vector<S>::Zero(y0.size()))),
        size_of_y(y0.size()),
        space(p) {}

  void fields(Archive& a) {
    a("t", t);
    a("x", x);
    a("direction", direction);
    a("y", y);
    if (a.loading()) loaded_v.resize(a.has("system") ? 0 : size_of_y);
    if (loaded_v.size() > 0) a("v", loaded_v);
    else a("system", v);
    a("outer", outer);
    a.added("inner_momentum", ball.momentum());
  }
};

class Fsobo : public OptimiserBase<FsoboOptions> {
 public:
  static constexpr OptimiserInfo info{"fsobo", "FSOBO: one step of y, v and x per round",
                                      "Jia, Wang, Chen 2026; steps reconstructed from Table 1 of the F²OBO paper",
                                      /*needs_hvp=*/true};
  using OptimiserBase::OptimiserBase;
  template <class P>
  using State = FsoboState<P>;

  // x_1 is projected onto X; v_1 = 0.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    project_start(s);
    s.ball.allocate(options_.inner, y0.size());
    for (auto* each : {&s.y_dense, &s.v_dense, &s.f_y, &s.product}) each->resize(s.ball.momentum().size());
    return s;
  }

  template <HvpOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    if (s.loaded_v.size() > 0) {
      s.space.from_dense(p, s.loaded_v, s.v);
      s.loaded_v.resize(0);
    }
    Step report{.inner_iterations = 1, .steps_y = 1};
    descend(p, s);
    if (!s.space.all_finite(p, s.y)) {
      report.status = Status::non_finite_inner;
    } else if (!s.space.all_finite(p, s.v)) {
      report.status = Status::non_finite_system;
    } else {
      if (options_.radius) s.space.bound(p, s.v, *options_.radius);
      s.space.implicit_direction(p, s.x, s.y, s.v, s.direction);
    }
    return outer_update(options_.gamma(s.t), s, report);
  }

  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }

 private:
  // A step of y on g + w|y|²/2, then one of v on its system at the new y.
  template <class P>
  void descend(P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    const double alpha = options_.alpha(s.t), eta = options_.v_step.value_or(options_.alpha)(s.t);
    if (options_.inner.plain()) return s.space.descend_system(p, s.x, s.y, s.v, {alpha, eta});
    s.ball.descend(p, s.space, s.y, alpha, 1,
                   [&](const Vector<S>& at, Vector<S>& out) { p.inner_gradient_y(s.x, at, out); });
    s.space.to_dense(p, s.y, s.y_dense);
    s.space.to_dense(p, s.v, s.v_dense);
    p.outer_gradient_y(s.x, s.y_dense, s.f_y);
    p.inner_hvp_yy(s.x, s.y_dense, s.v_dense, s.product);
    add_scaled<S>(s.product, S(options_.inner.weight_decay), s.v_dense);
    s.v_dense -= S(eta) * (s.product - s.f_y);
    s.space.from_dense(p, s.v_dense, s.v);
  }
};

}  // namespace obolus
