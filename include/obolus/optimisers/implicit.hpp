// What the methods that solve g_yy v = f_y for the hypergradient d = f_x − g_xy v share: one inner iterate y, its dense
// form where products are taken, the linear system, and a window of stored hypergradients.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/heavy_ball.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/core/linear_solve.hpp"
#include "obolus/core/outer_step.hpp"
#include "obolus/core/window.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"

namespace obolus {

enum class SystemSolver : std::uint8_t { cg, gd };
template <>
struct EnumNames<SystemSolver> {
  static constexpr std::array<std::pair<SystemSolver, std::string_view>, 2> values{
      {{SystemSolver::cg, "cg"}, {SystemSolver::gd, "gd"}}};
};

// What changes from round to round in all of them, and buffers.
template <class P>
struct ImplicitState {
  using S = ScalarOf<P>;
  Round t = 0;          // rounds done
  Vector<S> x;          // committed for the round to come
  Vector<S> direction;  // d of the last round
  Inner<P> y;
  Vector<S> v;
  OuterMemory<S> outer;
  HeavyBall<P> ball;         // of y
  InnerSpace<P> space;       // scratch, as are the rest
  Vector<S> y_dense, f_y;    // y densely; f_y(x, y)
  Vector<S> product, cross;  // g_yy times a vector; g_xy times a vector
  CgWorkspace<S> cg;

  ImplicitState(P& p, In<S> x0, In<S> y0)
      : x(x0),
        direction(Vector<S>::Zero(x0.size())),
        y(InnerSpace<P>(p).make(p, y0)),
        v(Vector<S>::Zero(y0.size())),
        space(p),
        y_dense(y0),
        f_y(y0.size()),
        product(y0.size()),
        cross(x0.size()),
        cg(y0.size()) {}

  void fields(Archive& a) {
    a("t", t);
    a("x", x);
    a("direction", direction);
    a("y", y);
    a("v", v);
    a("outer", outer);
    a.added("inner_momentum", ball.momentum());
  }
};

// What a window of past functions is divided by: the weights of all its w places, or of the rounds there have been.
enum class Normalise : std::uint8_t { window, stored };
template <>
struct EnumNames<Normalise> {
  static constexpr std::array<std::pair<Normalise, std::string_view>, 2> values{
      {{Normalise::window, "window"}, {Normalise::stored, "stored"}}};
};

[[nodiscard]] inline double divisor(Normalise by, double decay, std::int64_t window, Round t) {
  return full_weight(decay, by == Normalise::window ? window : std::min<std::int64_t>(window, t));
}

// Refuses an option that would store more than 2³³ numbers.
inline void check_stored(std::string_view option, std::int64_t count, std::string_view each, Index size) {
  if (static_cast<double>(count) * static_cast<double>(size) > 0x1p33)
    throw ConfigError(std::string(option) + ": got " + std::to_string(count) + ", expected fewer: each " +
                      std::string(each) + " of " + std::to_string(size) + " numbers");
}

// The options of methods that take a few steps on the system per round, as members of their flat options structs.
template <class Options, class V>
void describe_system(Options& o, V&& v, const char* steps = "Q_t, steps on each linear system") {
  v("system_steps", o.system_steps, steps, Range::count());
  v("system_solver", o.system_solver, "cg: conjugate gradients; gd: gradient steps of size v_step");
  v("v_step", o.v_step, "step size of v under gd; unset: α_t", Range::positive());
  v("damping", o.damping, "added to g_yy in the linear system, a remedy where g_yy is indefinite",
    Range::at_least(0.0));
  v("radius", o.radius, "v is kept within this norm; unset: no bound; theory: L_f0/μ_g", Range::positive());
}

template <class OptionsType>
class ImplicitOptimiser : public OptimiserBase<OptionsType> {
 public:
  using OptimiserBase<OptionsType>::OptimiserBase;
  template <class P>
  using State = ImplicitState<P>;

  // x_1 is projected onto X; v_1 = 0.
  template <FirstOrderOracle P>
  [[nodiscard]] ImplicitState<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    ImplicitState<P> s(p, x0, y0);
    this->project_start(s);
    return s;
  }

  template <FirstOrderOracle P>
  void read_y(P& p, ImplicitState<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }

 protected:
  using OptimiserBase<OptionsType>::options_;

  // Also makes room for the momentum of y.
  template <class State>
  void project_start(State& s) const {
    OptimiserBase<OptionsType>::project_start(s);
    s.ball.allocate(options_.inner, s.v.size());
  }

  // Steps of y on g.
  template <class P>
  void descend(P& p, ImplicitState<P>& s, double alpha) const {
    if (options_.inner.plain()) s.space.descend(p, s.x, s.y, alpha);
    else s.ball.descend(p, s.space, s.y, alpha, 1, inner_gradient(p, s));
  }
  template <class P>
  LoopResult descend_until(P& p, ImplicitState<P>& s, double alpha, Until until) const {
    if (options_.inner.plain()) return s.space.descend_until(p, s.x, s.y, alpha, until);
    return s.ball.descend_until(p, s.space, s.y, alpha, until, 1.0, inner_gradient(p, s));
  }

  // product ← (g_yy + w) v, w the weight decay of the inner problem
  template <class P>
  void inner_product_yy(P& p, ImplicitState<P>& s) const {
    p.inner_hvp_yy(s.x, s.y_dense, s.v, s.product);
    if (options_.inner.weight_decay != 0.0) s.product += ScalarOf<P>(options_.inner.weight_decay) * s.v;
  }

  // Refreshes y_dense and f_y from y; false when y is no longer finite.
  template <class P>
  [[nodiscard]] bool refresh_outer_gradient(P& p, ImplicitState<P>& s) const {
    if (!s.space.all_finite(p, s.y)) return false;
    s.space.to_dense(p, s.y, s.y_dense);
    p.outer_gradient_y(s.x, s.y_dense, s.f_y);
    return true;
  }

  // How to work on the linear system in a round.
  struct System {
    SystemSolver solver = SystemSolver::cg;
    std::int64_t steps = 1;
    double v_step = 0.1;
    double damping = 0.0;
    std::optional<double> radius = {};
  };

  // As the options of `describe_system` set it.
  [[nodiscard]] System system(Round t) const {
    return {options_.system_solver, options_.system_steps.count(t), options_.v_step.value_or(options_.alpha)(t),
            options_.damping, options_.radius};
  }

  // Q steps on (g_yy + w + damping) v = f_y from the current v, w the weight decay. CG takes one more product, for the
  // first residual.
  template <class P>
  [[nodiscard]] bool improve_system(P& p, ImplicitState<P>& s, const System& system, Step& report) const {
    using S = ScalarOf<P>;
    const double damping = system.damping + options_.inner.weight_decay;
    if (system.solver == SystemSolver::gd) {
      for (std::int64_t q = 0; q < system.steps; ++q) {
        p.inner_hvp_yy(s.x, s.y_dense, s.v, s.product);
        if (damping != 0.0) s.product += S(damping) * s.v;
        s.v -= S(system.v_step) * (s.product - s.f_y);
      }
    } else {
      const CgOptions options{
          .max_iterations = system.steps, .relative_tolerance = 1e-15, .damping = damping, .warm = true};
      const auto apply = [&](In<S> u, Out<S> out) { p.inner_hvp_yy(s.x, s.y_dense, u, out); };
      const CgResult result = conjugate_gradient<S>(apply, s.f_y, s.v, s.cg, options);
      report.indefinite = result.negative_curvature;
      if (result.non_finite) return false;
    }
    return s.v.allFinite();
  }

  // out ← f_x − g_xy v at the new y, after Q steps on v, projected onto the ball of the given radius, if any.
  template <class P>
  void hypergradient(P& p, ImplicitState<P>& s, const System& system, Step& report, Out<ScalarOf<P>> out) const {
    if (!refresh_outer_gradient(p, s)) {
      report.status = Status::non_finite_inner;
    } else if (!improve_system(p, s, system, report)) {
      report.status = Status::non_finite_system;
    } else {
      if (system.radius) project_l2_ball<ScalarOf<P>>(s.v, *system.radius);
      implicit_gradient(p, s, out);
    }
  }

  // d = f_x − g_xy v at y_dense
  template <class P>
  void implicit_gradient(P& p, ImplicitState<P>& s, Out<ScalarOf<P>> d) const {
    p.outer_gradient_x(s.x, s.y_dense, d);
    p.inner_hvp_xy(s.x, s.y_dense, s.v, s.cross);
    d -= s.cross;
  }

 private:
  template <class P>
  [[nodiscard]] static auto inner_gradient(P& p, ImplicitState<P>& s) {
    using S = ScalarOf<P>;
    return [&p, &s](const Vector<S>& at, Vector<S>& out) { p.inner_gradient_y(s.x, at, out); };
  }
};

}  // namespace obolus
