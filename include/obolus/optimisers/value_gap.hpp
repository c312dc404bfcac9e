// What BOME and PBGD share: the value gap g(x, y) − g(x, ŷ), with ŷ brought near y*(x) by K steps on g(x, ·).
#pragma once

#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"

namespace obolus {

// The model y, and z for ŷ.
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

  void fields(Archive& a) {
    a("t", t);
    a("x", x);
    a("direction", direction);
    a("y", y);
    a("z", z);
    a("outer", outer);
  }

 private:
  static Inner<P> make(P& p, In<S> start) { return InnerSpace<P>(p).make(p, start); }
};

template <class OptionsType>
class ValueGapOptimiser : public OptimiserBase<OptionsType> {
 public:
  using OptimiserBase<OptionsType>::OptimiserBase;
  template <class P>
  using State = ValueGapState<P>;

  // x_1 is projected onto X; ŷ_1 = y_1.
  template <FirstOrderOracle P>
  [[nodiscard]] ValueGapState<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    ValueGapState<P> s(p, x0, y0);
    this->project_start(s);
    return s;
  }

  template <FirstOrderOracle P>
  void read_y(P& p, ValueGapState<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }
  template <FirstOrderOracle P>
  void read_z(P& p, ValueGapState<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.z, out);
  }

 protected:
  // K steps of ŷ from where it is. Returns the report of a round that begins with them.
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

}  // namespace obolus
