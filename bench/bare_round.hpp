// The oracle calls of one F²OBO round and nothing else: the yardstick for the optimiser's own cost.
#pragma once

#include <cstdint>

#include "obolus/core/oracle.hpp"

namespace obolus::bench {

template <FirstOrderOracle P>
class BareRound {
  using S = ScalarOf<P>;

 public:
  explicit BareRound(P& p)
      : x_(Vector<S>::Constant(p.dims().x, S(0.1))),
        y_(Vector<S>::Constant(p.dims().y, S(0.2))),
        z_(y_),
        gx_(p.dims().x),
        gy_(p.dims().y) {}

  // 2K g_y, K f_y, one f_x and two g_x, through whatever type P is.
  void operator()(P& p, std::int64_t inner_steps) {
    for (std::int64_t k = 0; k < inner_steps; ++k) {
      p.inner_gradient_y(x_, z_, gy_);
      keep(gy_);
      p.outer_gradient_y(x_, y_, gy_);
      keep(gy_);
      p.inner_gradient_y(x_, y_, gy_);
      keep(gy_);
    }
    p.outer_gradient_x(x_, y_, gx_);
    keep(gx_);
    p.inner_gradient_x(x_, y_, gx_);
    keep(gx_);
    p.inner_gradient_x(x_, z_, gx_);
    keep(gx_);
  }

 private:
  // Keeps the compiler from dropping the result.
  static void keep(const Vector<S>& v) { asm volatile("" : : "r"(v.data()) : "memory"); }
  Vector<S> x_, y_, z_, gx_, gy_;
};

}  // namespace obolus::bench
