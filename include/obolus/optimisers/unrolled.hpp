// The hypergradient through the inner steps themselves (iterative differentiation): with ω^0 constant and
// ω^{k+1} = ω^k − α g_y(x, ω^k), the total derivative of f(x, ω^K(x)) in reverse mode is
//     p ← f_y(x, ω^K),  h ← f_x(x, ω^K);   for k = K−1 … 0:  h ← h − α g_xy(x, ω^k) p,   p ← p − α g_yy(x, ω^k) p.
// The last p is not needed: K − 1 products with g_yy and K with g_xy. A problem may do all of it at once
// (core/whole_rounds.hpp) where every step is on the same functions. With momentum and weight decay (heavy_ball.hpp),
// m^{k+1} = μm^k + g_y(x, ω^k) + wω^k and ω^{k+1} = ω^k − αm^{k+1} with m^0 constant too: q = 0 at first, then
//     q ← μq − αp,  h ← h + g_xy(x, ω^k) q,  p ← p + (g_yy(x, ω^k) + w) q.
#pragma once

#include "obolus/core/whole_rounds.hpp"
#include "obolus/optimisers/implicit.hpp"

namespace obolus {

template <class P>
struct UnrolledState : ImplicitState<P> {
  using S = ScalarOf<P>;
  Window<S> past;
  Vector<S> h;     // scratch, as is the path
  Vector<S> q;     // scratch, with momentum
  Matrix<S> path;  // ω^0 … ω^{K−1} in columns; grows when K does
  UnrolledState(P& p, In<S> x0, In<S> y0, std::int64_t window, std::int64_t steps)
      : ImplicitState<P>(p, x0, y0), past(x0.size(), window), h(x0.size()), path(y0.size(), steps) {}
  void fields(Archive& a) {
    ImplicitState<P>::fields(a);
    a("past", past);
  }
};

// For options that tell, by on_same_functions(), whether h is always the derivative through steps on the same
// functions.
template <class OptionsType>
class UnrolledOptimiser : public ImplicitOptimiser<OptionsType> {
 public:
  using ImplicitOptimiser<OptionsType>::ImplicitOptimiser;
  template <class P>
  using State = UnrolledState<P>;

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    const bool at_once = unrolls(p) && this->options_.at_once();
    const std::int64_t steps = at_once ? 0 : this->options_.inner_steps.count(1);
    check_stored("inner_steps", steps, "step stores a y", y0.size());
    State<P> s(p, x0, y0, this->options_.window, steps);
    this->project_start(s);
    s.q.resize(s.ball.momentum().size());
    return s;
  }

 protected:
  // K steps of y and h through them, all on the same functions; false when y is no longer finite.
  template <class P>
  [[nodiscard]] bool unroll(P& p, State<P>& s, std::int64_t steps, double alpha) const {
    if constexpr (Unrolls<P>)
      if (unrolls(p) && this->options_.at_once()) {
        p.unroll(s.x, s.y, alpha, steps, s.h);
        return s.space.all_finite(p, s.y);
      }
    descend_and_remember(p, s, steps, alpha, [](std::int64_t) {});
    if (!this->refresh_outer_gradient(p, s)) return false;
    reverse(p, s, steps, alpha);
    return true;
  }

  // K steps of y with `before(k)` ahead of each; every point is kept.
  template <class P, class Before>
  void descend_and_remember(P& p, State<P>& s, std::int64_t steps, double alpha, Before&& before) const {
    if (steps > s.path.cols()) s.path.resize(Eigen::NoChange, std::max<Index>(steps, 2 * s.path.cols()));
    for (std::int64_t k = 0; k < steps; ++k) {
      before(k);
      s.space.to_dense(p, s.y, s.path.col(k));
      this->template descend<P>(p, s, alpha);
    }
  }

  // h by reverse mode; f_y at the new y is in s.f_y (refresh_outer_gradient) and becomes p.
  template <class P>
  void reverse(P& p, State<P>& s, std::int64_t steps, double alpha) const {
    using S = ScalarOf<P>;
    p.outer_gradient_x(s.x, s.y_dense, s.h);
    if (!this->options_.inner.plain()) return reverse_momentum(p, s, steps, alpha);
    for (std::int64_t k = steps - 1; k >= 0; --k) {
      p.inner_hvp_xy(s.x, s.path.col(k), s.f_y, s.cross);
      s.h -= S(alpha) * s.cross;
      if (k == 0) break;
      p.inner_hvp_yy(s.x, s.path.col(k), s.f_y, s.product);
      s.f_y -= S(alpha) * s.product;
    }
  }

  // d = the mean of the stored hypergradients, h the newest
  template <class P>
  void average(State<P>& s) const {
    s.past.push(s.h);
    const double weights = s.past.sum(1.0, s.direction);
    s.direction /= ScalarOf<P>(weights);
  }

 private:
  template <class P>
  void reverse_momentum(P& p, State<P>& s, std::int64_t steps, double alpha) const {
    using S = ScalarOf<P>;
    const InnerStepOptions& o = this->options_.inner;
    s.q.setZero();
    for (std::int64_t k = steps - 1; k >= 0; --k) {
      combine<S>(s.q, S(o.momentum), s.q, -S(alpha), s.f_y);
      p.inner_hvp_xy(s.x, s.path.col(k), s.q, s.cross);
      s.h += s.cross;
      if (k == 0) break;
      p.inner_hvp_yy(s.x, s.path.col(k), s.q, s.product);
      s.f_y += s.product;
      add_scaled<S>(s.f_y, S(o.weight_decay), s.q);
    }
  }
};

}  // namespace obolus
