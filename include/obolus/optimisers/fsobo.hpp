// FSOBO (Jia, Wang, Chen 2026), the fully single-loop method: y ← y − α g_y;  v ← v − η (g_yy v − f_y) at the new y;
// d = f_x − g_xy v;  x-step. A round costs one call of each kind: g_y, f_y, f_x, g_yy v, g_xy v.
//
// Reconstructed from the F²OBO paper's account (Table 1 forces one query of each kind per round). Our choices: the
// order y, v, x; η = α unless given; the projection |v| ≤ radius is off unless given (theory: L_f0/μ_g).
//
// y and v are inner iterates both: a problem with storage of its own keeps v in it too.
#pragma once

#include "obolus/core/inner.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"

namespace obolus {

struct FsoboOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  std::optional<Schedule> v_step = {};
  std::optional<double> radius = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::positive());
    v("v_step", v_step, "step size of v; unset: α_t", Range::positive());
    v("radius", radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
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
  Vector<S> loaded_v;   // dense, from an older archive; empty once v has it
  InnerSpace<P> space;  // scratch

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
    s.space.descend_system(p, s.x, s.y, s.v, {options_.alpha(s.t), options_.v_step.value_or(options_.alpha)(s.t)});
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
};

}  // namespace obolus
