// Inner iterates and everything an optimiser may do with them.
//
// The storage of an inner iterate belongs to the problem (`P::Inner`, a dense vector by default), and optimisers touch
// it only through the primitives of `InnerSpace`. Each primitive has a default written from the plain gradients, here
// or in inner_definitions.hpp. A problem may supply its own version of any of them, as a member of the same name
// without the leading problem argument: a fused pass, a lazy scaling, a batch shared between y and z. The default and
// the problem's version must agree to rounding; `check/primitives.hpp` tests that for any problem.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "obolus/core/dense_forms.hpp"
#include "obolus/core/inner_definitions.hpp"
#include "obolus/core/inner_storage.hpp"
#include "obolus/core/linear.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/projection.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

template <FirstOrderOracle P>
class InnerSpace : private detail::DenseForms<P>, private detail::InnerDefinitions<P> {
  using S = ScalarOf<P>;
  using Storage = detail::DenseForms<P>;
  using Definitions = detail::InnerDefinitions<P>;
  using Definitions::delta_, Definitions::f_, Definitions::g_, Definitions::point_, Definitions::x_gradient_;
  using Definitions::direction_dense, Definitions::penalised_gradient;
  using Storage::change, Storage::dense, Storage::first_, Storage::read, Storage::second_;

 public:
  // Allocates every buffer that the defaults need.
  explicit InnerSpace(P& p) : Storage(p), Definitions(p.dims()) {}

  using Storage::all_finite, Storage::axpy, Storage::copy, Storage::from_dense, Storage::make, Storage::to_dense;

  // z ← z − α g_y(x, z), `steps` times on the same functions. A problem may supply this and the next three either with
  // the number of steps or for a single step; descend_central only with the number.
  void descend(P& p, In<S> x, Inner<P>& z, double alpha, std::int64_t steps = 1) {
    if constexpr (requires { p.descend(x, z, alpha, steps); }) {
      p.descend(x, z, alpha, steps);
    } else if constexpr (requires { p.descend(x, z, alpha); }) {
      for (std::int64_t k = 0; k < steps; ++k) p.descend(x, z, alpha);
    } else {
      change(p, z, first_, [&](Vector<S>& v) {
        for (std::int64_t k = 0; k < steps; ++k) {
          p.inner_gradient_y(x, v, g_);
          add_scaled<S>(v, -S(alpha), g_);
        }
      });
    }
  }

  // y ← y − β (f_y + λ g_y)(x, y), with the weights of `penalty`
  void descend_penalised(P& p, In<S> x, Inner<P>& y, double beta, Penalty penalty, std::int64_t steps = 1) {
    if constexpr (requires { p.descend_penalised(x, y, beta, penalty, steps); }) {
      p.descend_penalised(x, y, beta, penalty, steps);
    } else if constexpr (requires { p.descend_penalised(x, y, beta, penalty); }) {
      for (std::int64_t k = 0; k < steps; ++k) p.descend_penalised(x, y, beta, penalty);
    } else {
      change(p, y, first_, [&](Vector<S>& v) {
        for (std::int64_t k = 0; k < steps; ++k) {
          penalised_gradient(p, x, v, penalty);
          add_scaled<S>(v, -S(beta), f_);
        }
      });
    }
  }

  // Inner iterations of Algorithms 1 and 3: z and y step on the same round and the same samples.
  void descend_pair(P& p, In<S> x, Inner<P>& y, Inner<P>& z, double beta, Penalty penalty, double alpha,
                    std::int64_t steps = 1) {
    if constexpr (requires { p.descend_pair(x, y, z, beta, penalty, alpha, steps); }) {
      p.descend_pair(x, y, z, beta, penalty, alpha, steps);
    } else if constexpr (requires { p.descend_pair(x, y, z, beta, penalty, alpha); }) {
      for (std::int64_t k = 0; k < steps; ++k) p.descend_pair(x, y, z, beta, penalty, alpha);
    } else {
      descend(p, x, z, alpha, steps);
      descend_penalised(p, x, y, beta, penalty, steps);
    }
  }

  // The same iteration written in z and w = λ(y − z), so that the difference λ multiplies is stored, not recomputed:
  //   w ← w − λβ f_y(y) − λ(λβ g_y(y) − α g_y(z)),   z ← z − α g_y(z),   y = z + w/λ at the old z.
  void descend_dual(P& p, In<S> x, Inner<P>& z, Inner<P>& w, DualStep step, std::int64_t steps = 1) {
    if constexpr (requires { p.descend_dual(x, z, w, step, steps); }) {
      p.descend_dual(x, z, w, step, steps);
    } else if constexpr (requires { p.descend_dual(x, z, w, step); }) {
      for (std::int64_t k = 0; k < steps; ++k) p.descend_dual(x, z, w, step);
    } else {
      change(p, z, first_, [&](Vector<S>& zv) {
        change(p, w, second_, [&](Vector<S>& wv) {
          for (std::int64_t k = 0; k < steps; ++k) this->descend_dual_dense(p, x, zv, wv, step);
        });
      });
    }
  }

  // Order 2 in the mean c of y_±1 and w = λ(y_1 − y_−1)/2, so that y_±1 = c ± w/λ. y_±1 steps along ±f_y + λ g_y:
  //   c ← c − ½β[f_y(y_1) − f_y(y_−1) + λ(g_y(y_1) + g_y(y_−1))],
  //   w ← w − ½λβ[f_y(y_1) + f_y(y_−1) + λ(g_y(y_1) − g_y(y_−1))].
  void descend_central(P& p, In<S> x, Inner<P>& c, Inner<P>& w, CentralStep step, std::int64_t steps = 1) {
    if constexpr (requires { p.descend_central(x, c, w, step, steps); }) {
      p.descend_central(x, c, w, step, steps);
    } else {
      change(p, c, first_, [&](Vector<S>& cv) {
        change(p, w, second_, [&](Vector<S>& wv) {
          for (std::int64_t k = 0; k < steps; ++k) this->descend_central_dense(p, x, cv, wv, step);
        });
      });
    }
  }

  // y ← y − α g_y(x, y), then v ← v − η (g_yy v − f_y) at the new y: the round of FSOBO
  void descend_system(P& p, In<S> x, Inner<P>& y, Inner<P>& v, SystemStep step)
    requires HvpOracle<P>
  {
    if constexpr (requires { p.descend_system(x, y, v, step); }) {
      p.descend_system(x, y, v, step);
    } else {
      descend(p, x, y, step.alpha);
      const Vector<S>& yv = read(p, y, second_);
      change(p, v, first_, [&](Vector<S>& u) {
        p.outer_gradient_y(x, yv, f_);
        p.inner_hvp_yy(x, yv, u, g_);
        u -= S(step.eta) * (g_ - f_);
      });
    }
  }

  // d = f_x − g_xy v
  void implicit_direction(P& p, In<S> x, const Inner<P>& y, const Inner<P>& v, Out<S> d)
    requires HvpOracle<P>
  {
    if constexpr (requires { p.implicit_direction(x, y, v, d); }) {
      p.implicit_direction(x, y, v, d);
    } else {
      const Vector<S>& yv = read(p, y, first_);
      p.outer_gradient_x(x, yv, d);
      p.inner_hvp_xy(x, yv, read(p, v, second_), x_gradient_);
      d -= x_gradient_;
    }
  }

  // v ← the nearest point with |v| ≤ radius
  void bound(P& p, Inner<P>& v, double radius) {
    if constexpr (requires { p.bound(v, radius); }) p.bound(v, radius);
    else change(p, v, first_, [&](Vector<S>& u) { project_l2_ball<S>(u, radius); });
  }

  // while |g_y(x, z)| > tolerance: z ← z − α g_y(x, z)   (Algorithm 2, lines 4–6)
  LoopResult descend_until(P& p, In<S> x, Inner<P>& z, double alpha, Until until) {
    if constexpr (requires { p.descend_until(x, z, alpha, until); }) {
      return p.descend_until(x, z, alpha, until);
    } else {
      return loop(
          p, z, until,
          [&](Vector<S>& v) -> const Vector<S>& {
            p.inner_gradient_y(x, v, g_);
            return g_;
          },
          alpha);
    }
  }

  // while |(f_y + λ g_y)(x, y)| > tolerance: y ← y − β (f_y + λ g_y)(x, y)   (Algorithm 2, lines 7–9)
  LoopResult descend_penalised_until(P& p, In<S> x, Inner<P>& y, double beta, Penalty penalty, Until until) {
    if constexpr (requires { p.descend_penalised_until(x, y, beta, penalty, until); }) {
      return p.descend_penalised_until(x, y, beta, penalty, until);
    } else {
      return loop(
          p, y, until,
          [&](Vector<S>& v) -> const Vector<S>& {
            penalised_gradient(p, x, v, penalty);
            return f_;
          },
          beta);
    }
  }

  // The same loop in w, with z fixed and y = z + w/λ:  w ← w − λβ (f_y + λ g_y)(x, y).
  LoopResult descend_dual_until(P& p, In<S> x, const Inner<P>& z, Inner<P>& w, DualStep step, Until until) {
    if constexpr (requires { p.descend_dual_until(x, z, w, step, until); }) {
      return p.descend_dual_until(x, z, w, step, until);
    } else {
      const Vector<S>& zv = read(p, z, second_);
      return loop(
          p, w, until,
          [&](Vector<S>& wv) -> const Vector<S>& {
            shift<S>(point_, zv, S(1.0 / step.lambda), wv);
            penalised_gradient(p, x, point_, {1.0, step.lambda});
            return f_;
          },
          step.lambda* step.beta);
    }
  }

  // |g_y(x, z)|
  [[nodiscard]] double gradient_norm(P& p, In<S> x, const Inner<P>& z) {
    if constexpr (requires { p.gradient_norm(x, z); }) return p.gradient_norm(x, z);
    p.inner_gradient_y(x, read(p, z, first_), g_);
    return euclidean_norm<S>(g_);
  }

  // |(f_y + λ g_y)(x, y)|
  [[nodiscard]] double penalised_gradient_norm(P& p, In<S> x, const Inner<P>& y, Penalty penalty) {
    if constexpr (requires { p.penalised_gradient_norm(x, y, penalty); })
      return p.penalised_gradient_norm(x, y, penalty);
    penalised_gradient(p, x, read(p, y, first_), penalty);
    return euclidean_norm<S>(f_);
  }

  // d = f_x(x, y) + λ (g_x(x, y) − g_x(x, z)), the paper's ∇̃L*_t
  void penalty_direction(P& p, In<S> x, const Inner<P>& y, const Inner<P>& z, double lambda, Out<S> d) {
    if constexpr (requires { p.penalty_direction(x, y, z, lambda, d); }) {
      p.penalty_direction(x, y, z, lambda, d);
    } else {
      const Vector<S>& yv = read(p, y, first_);
      const Vector<S>& zv = read(p, z, second_);
      shift<S>(delta_, yv, S(-1), zv);
      direction_dense(p, x, yv, zv, lambda, d);
    }
  }

  // The same with y = z + w/λ.
  void dual_direction(P& p, In<S> x, const Inner<P>& z, const Inner<P>& w, double lambda, Out<S> d) {
    if constexpr (requires { p.dual_direction(x, z, w, lambda, d); }) {
      p.dual_direction(x, z, w, lambda, d);
    } else {
      const Vector<S>& zv = read(p, z, first_);
      scale<S>(delta_, S(1.0 / lambda), read(p, w, second_));
      shift<S>(point_, zv, S(1), delta_);
      direction_dense(p, x, point_, zv, lambda, d);
    }
  }

  // ½[f_x(y_1) + f_x(y_−1)] + ½λ[g_x(y_1) − g_x(y_−1)] with y_±1 = c ± w/λ
  void central_direction(P& p, In<S> x, const Inner<P>& c, const Inner<P>& w, double lambda, Out<S> d) {
    if constexpr (requires { p.central_direction(x, c, w, lambda, d); }) {
      p.central_direction(x, c, w, lambda, d);
    } else {
      const Vector<S>& cv = read(p, c, first_);
      scale<S>(delta_, S(1.0 / lambda), read(p, w, second_));
      shift<S>(point_, cv, S(1), delta_);
      shift<S>(f_, cv, S(-1), delta_);
      scale<S>(delta_, S(2), delta_);
      direction_dense(p, x, point_, f_, lambda, d);
      p.outer_gradient_x(x, f_, x_gradient_);
      add_scaled<S>(d, S(1), x_gradient_);
      scale<S>(d, S(0.5), d);
    }
  }

 private:
  template <class Gradient>
  LoopResult loop(P& p, Inner<P>& inner, Until until, Gradient&& gradient, double step) {
    LoopResult result;
    change(p, inner, first_, [&](Vector<S>& v) {
      while (true) {
        const Vector<S>& direction = gradient(v);
        result.norm = euclidean_norm<S>(direction);
        if (!(result.norm > until.tolerance) || result.steps >= until.cap) break;  // a NaN leaves the loop
        add_scaled<S>(v, -S(step), direction);
        ++result.steps;
      }
    });
    return result;
  }
};

}  // namespace obolus
