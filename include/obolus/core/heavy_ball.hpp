// Inner steps with momentum and weight decay, as PyTorch's SGD has them:
//     m ← μm + G(y) + wy,   y ← y − s m,   G the gradient of the inner problem and s its step size.
// m carries over from round to round. w makes the inner problem g + w|y|²/2.
#pragma once

#include <cstdint>

#include "obolus/core/inner.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/options.hpp"

namespace obolus {

struct InnerStepOptions {
  double momentum = 0.0;
  double weight_decay = 0.0;

  [[nodiscard]] bool plain() const { return momentum == 0.0 && weight_decay == 0.0; }

  template <class V>
  void describe(V&& v) {
    v("inner_momentum", momentum, "μ of inner steps along m ← μm + G + wy, G their gradient; m carries over",
      Range::between(0.0, 1.0 - 0x1p-53));
    v("inner_weight_decay", weight_decay, "w of the same: the inner problem is g + w|y|²/2", Range::at_least(0.0));
  }
};

// The momentum of one iterate, with buffers; empty until `allocate` is given options that need it.
template <FirstOrderOracle P>
class HeavyBall {
  using S = ScalarOf<P>;

 public:
  void allocate(const InnerStepOptions& options, Index size) {
    o_ = options;
    momentum_.setZero(o_.plain() ? 0 : size);
    at_.resize(momentum_.size());
    gradient_.resize(momentum_.size());
  }

  // For the checkpoint, and for warm starts that move iterates.
  [[nodiscard]] Vector<S>& momentum() { return momentum_; }

  // `gradient(at, out)` writes G.
  template <class Gradient>
  void descend(P& p, InnerSpace<P>& space, Inner<P>& y, double step, std::int64_t steps, Gradient&& gradient) {
    space.to_dense(p, y, at_);
    for (std::int64_t k = 0; k < steps; ++k) {
      decayed(gradient);
      move(step);
    }
    space.from_dense(p, at_, y);
  }

  // while scale · |G(y) + wy| > tolerance
  template <class Gradient>
  LoopResult descend_until(P& p, InnerSpace<P>& space, Inner<P>& y, double step, Until until, double scale,
                           Gradient&& gradient) {
    LoopResult result;
    space.to_dense(p, y, at_);
    while (true) {
      decayed(gradient);
      result.norm = scale * euclidean_norm<S>(gradient_);
      if (!(result.norm > until.tolerance) || result.steps >= until.cap) break;  // a NaN leaves the loop
      move(step);
      ++result.steps;
    }
    space.from_dense(p, at_, y);
    return result;
  }

 private:
  template <class Gradient>
  void decayed(Gradient&& gradient) {
    gradient(at_, gradient_);
    if (o_.weight_decay != 0.0) add_scaled<S>(gradient_, S(o_.weight_decay), at_);
  }
  void move(double step) {
    combine<S>(momentum_, S(o_.momentum), momentum_, S(1), gradient_);
    add_scaled<S>(at_, -S(step), momentum_);
  }

  InnerStepOptions o_;
  Vector<S> momentum_, at_, gradient_;  // the last two are scratch
};

}  // namespace obolus
