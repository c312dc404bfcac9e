// An optimiser at work on a problem: the optimiser, its state and the counters, behind one small interface that the run
// loop, the checkpoint and the metrics share.
#pragma once

#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/convex_set.hpp"
#include "obolus/core/counted.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/status.hpp"

namespace obolus {

template <class S>
class AnySession {
 public:
  virtual ~AnySession() = default;
  virtual Step step(const Rng& rng) = 0;                         // one round's update, on the revealed round
  [[nodiscard]] virtual const Vector<S>& x() const = 0;          // committed for the next round
  [[nodiscard]] virtual const Vector<S>& direction() const = 0;  // d of the last round
  virtual void read_y(Out<S> y) = 0;                             // the committed model
  virtual void read_z(Out<S> z) = 0;                             // the plain inner copy; y for a method without one
  [[nodiscard]] virtual const OracleCounts& counts() const = 0;
  [[nodiscard]] virtual const ConvexSet& set() const = 0;
  virtual void fields(Archive& a) = 0;  // everything that changes
};

template <class Optimiser, FirstOrderOracle P>
class Session final : public AnySession<ScalarOf<P>> {
  using S = ScalarOf<P>;

 public:
  Session(Optimiser optimiser, P& problem, In<S> x0, In<S> y0)
      : optimiser_(std::move(optimiser)), counted_(problem), state_(optimiser_.init(counted_, x0, y0)) {}
  Session(Session&&) = delete;  // the state refers to the counting adaptor

  Step step(const Rng& rng) override { return optimiser_.step(counted_, state_, rng); }
  [[nodiscard]] const Vector<S>& x() const override { return state_.x; }
  [[nodiscard]] const Vector<S>& direction() const override { return state_.direction; }
  void read_y(Out<S> y) override { optimiser_.read_y(counted_, state_, y); }
  void read_z(Out<S> z) override {
    if constexpr (requires { optimiser_.read_z(counted_, state_, z); }) optimiser_.read_z(counted_, state_, z);
    else optimiser_.read_y(counted_, state_, z);
  }
  [[nodiscard]] const OracleCounts& counts() const override { return counted_.counts(); }
  [[nodiscard]] const ConvexSet& set() const override { return optimiser_.set(); }
  void fields(Archive& a) override {
    a("state", state_);
    a("counts", counted_.counts());
  }

  [[nodiscard]] const Optimiser& optimiser() const { return optimiser_; }

 private:
  Optimiser optimiser_;
  Counted<P> counted_;
  typename Optimiser::template State<Counted<P>> state_;
};

}  // namespace obolus
