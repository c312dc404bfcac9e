// PBGD (Shen, Chen, ICML 2023): a joint step of (x, y) on f + λ(g − g(x, ŷ)), ŷ near y*(x) by K steps on g(x, ·):
//     y⁺ = y − y_step (f_y + λ g_y)(x, y),   d = f_x(x, y) + λ(g_x(x, y) − g_x(x, ŷ)),   both at the old y;   x-step.
// A round costs K + 1 g_y, one f_y, one f_x and two g_x.
//
// Sourced: the joint step and the constant λ. Ours: ŷ carries over from round to round (ŷ_1 = y_1), a step of y of its
// own (unset: γ, the paper's) and λ_t = λ_1 t^τ. The step of y is stable below 2/(L_f1 + λ L_g1).
#pragma once

#include <cmath>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/optimisers/frame.hpp"
#include "obolus/optimisers/info.hpp"

namespace obolus {

// A method of the value gap g(x, y) − g(x, ŷ): the model y and, in the place of z, ŷ.
template <class P>
struct ValueGapState {
  using S = ScalarOf<P>;
  Round t = 0;          // rounds done
  Vector<S> x;          // committed for the round to come
  Vector<S> direction;  // d of the last round
  Inner<P> y, z;
  OuterMemory<S> outer;
  InnerSpace<P> space;  // scratch

  ValueGapState(P& p, In<S> x0, In<S> y0)
      : x(x0), direction(Vector<S>::Zero(x0.size())), y(make(p, y0)), z(make(p, y0)), space(p) {}

  void fields(Archive& a) { a("t", t), a("x", x), a("direction", direction), a("y", y), a("z", z), a("outer", outer); }

 private:
  static Inner<P> make(P& p, In<S> start) { return InnerSpace<P>(p).make(p, start); }
};

template <class OptionsType>
class ValueGapOptimiser : public Frame<OptionsType> {
 public:
  using Frame<OptionsType>::Frame;
  template <class P>
  using State = ValueGapState<P>;

  // x_1 is projected onto X; ŷ_1 = y_1.
  template <FirstOrderOracle P>
  [[nodiscard]] ValueGapState<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    ValueGapState<P> s(p, x0, y0);
    start<P>(s);
    return s;
  }

  template <FirstOrderOracle P>
  void copy_y(P& p, ValueGapState<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }
  template <FirstOrderOracle P>
  void copy_z(P& p, ValueGapState<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.z, out);
  }

 protected:
  template <class P>
  void start(ValueGapState<P>& s) const {
    this->set_.template project<ScalarOf<P>>(s.x);
    s.outer = this->outer_.template init<ScalarOf<P>>(s.x);
  }

  // K steps of ŷ from where it stands; the report of a round that begins with them.
  template <class P>
  Step descend_z(P& p, ValueGapState<P>& s) const {
    const std::int64_t steps = this->options_.inner_steps.count(s.t);
    for (std::int64_t k = 0; k < steps; ++k) s.space.descend(p, s.x, s.z, this->options_.alpha(s.t));
    Step report{.penalised = true, .inner_iterations = steps, .steps_y = 1, .steps_z = steps};
    if (!s.space.all_finite(p, s.z)) report.status = Status::non_finite_inner;
    return report;
  }

  [[nodiscard]] double y_step(Round t) const { return this->options_.y_step.value_or(this->options_.gamma)(t); }
};

struct PbgdOptions {
  Schedule alpha = 0.1;
  Schedule inner_steps = 5.0;
  Schedule gamma = 0.01;
  std::optional<Schedule> y_step = {};
  double lambda1 = 10.0;
  double tau = 0.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of ŷ, α_t", Range::positive());
    v("inner_steps", inner_steps, "K_t, steps of ŷ a round", Range::count());
    v("gamma", gamma, "outer step size, γ_t", Range::positive());
    v("y_step", y_step, "step size of y; unset: γ_t", Range::positive());
    v("lambda1", lambda1, "first multiplier", Range::positive());
    v("tau", tau, "growth of the multiplier: λ_t = λ_1 t^τ", Range::at_least(0.0));
    outer.describe(v);
  }
};

class Pbgd : public ValueGapOptimiser<PbgdOptions> {
 public:
  static constexpr OptimiserInfo info{"pbgd", "PBGD: a joint step on the penalised value gap", "Shen, Chen, ICML 2023"};
  using ValueGapOptimiser::ValueGapOptimiser;

  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const double lambda = options_.lambda1 * std::pow(static_cast<double>(s.t), options_.tau);
    Step report = descend_z<P>(p, s);
    report.lambda = lambda;
    if (report.status == Status::ok) {
      s.space.penalty_direction(p, s.x, s.y, s.z, lambda, s.direction);
      s.space.descend_penalised(p, s.x, s.y, y_step(s.t), {1.0, lambda});
      if (!s.space.all_finite(p, s.y)) report.status = Status::non_finite_inner;
    }
    return move(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
