// ZO-SOGD (Nazari et al. 2025): SOGD with function values only. b unit vectors r_i ∈ R^d2, q_i ∈ R^d1 per round,
// uniform on the sphere, the same at both ends, at both points of time and in f and g, give
//     G_y φ(x, y) = d2/(2bρ) Σ_i [φ(x, y + ρr_i) − φ(x, y − ρr_i)] r_i,      G_x φ likewise with q_i and d1,
//     D_y = G_y g,   D_v = [G_y g(x, y + ρ_v v) − G_y g(x, y − ρ_v v)]/(2ρ_v) − G_y f,
//     D_x = G_x f − [G_x g(x, y + ρ_v v) − G_x g(x, y − ρ_v v)]/(2ρ_v).
// A round costs 28b values, the first round 14b, and no gradient.
//
// Sourced: the estimators and ρ = 0.005, ρ_v = 0.01, momenta 0.99. A product along v costs its values even where
// v = 0. Few directions need small steps: with b = 1 a step of y is along one r and d2 times as long, stable for
// y_step < 2/(d2 L_g1).
#pragma once

#include "obolus/core/norm.hpp"
#include "obolus/optimisers/momentum.hpp"

namespace obolus {

struct ZoSogdOptions {
  Schedule y_step = 0.1;
  Schedule v_step = 0.1;
  Schedule gamma = 0.01;
  Schedule momentum = 0.99;
  std::optional<Schedule> momentum_x = {}, momentum_y = {}, momentum_v = {};
  std::optional<double> radius = {};
  RoundSamples samples = RoundSamples::round;
  Schedule batch = 256.0;
  std::int64_t directions = 1;
  double smoothing = 0.005;
  double smoothing_v = 0.01;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_momentum(*this, v);
    v("directions", directions, "b, random directions per round in y and as many in x", Range::between(1, 1e6));
    v("smoothing", smoothing, "ρ, length of the steps along the directions", Range::positive());
    v("smoothing_v", smoothing_v, "ρ_v, step along v of the difference for a product", Range::positive());
    outer.describe(v);
  }
};

class ZoSogd : public MomentumOptimiser<ZoSogdOptions> {
 public:
  static constexpr OptimiserInfo info{"zo_sogd", "ZO-SOGD: SOGD from function values only", "Nazari et al. 2025",
                                      /*needs_hvp=*/false, /*stochastic=*/true};
  using MomentumOptimiser::MomentumOptimiser;

  template <class P>
  struct State : MomentumState<P> {
    using S = ScalarOf<P>;
    Matrix<S> r, q;                               // the round's directions in columns; scratch, as are the rest
    Vector<S> plus, minus, shifted_x, shifted_y;  // y ± ρ_v v; a point next to x or y
    State(P& p, In<S> x0, In<S> y0, std::int64_t directions)
        : MomentumState<P>(p, x0, y0),
          r(y0.size(), directions),
          q(x0.size(), directions),
          plus(y0.size()),
          minus(y0.size()),
          shifted_x(x0.size()),
          shifted_y(y0.size()) {}
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0, options_.directions);
    project_start(s);
    return s;
  }

  template <StochasticOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    using S = ScalarOf<P>;
    Rng sphere = rng.child("sphere", static_cast<std::uint64_t>(s.t + 1));
    draw_unit_vectors(sphere, s.r);
    draw_unit_vectors(sphere, s.q);
    return momentum_step<P>(p, s, rng, [&](In<S> x, In<S> y, In<S> v, Triple<S>& d) { estimate<P>(p, s, x, y, v, d); });
  }

 private:
  template <class S>
  static void draw_unit_vectors(Rng& rng, Matrix<S>& columns) {
    for (Index i = 0; i < columns.cols(); ++i) {
      double norm = 0.0;
      while (norm == 0.0) {
        rng.fill_normal(columns.col(i));
        norm = euclidean_norm<S>(columns.col(i));
      }
      columns.col(i) /= S(norm);
    }
  }

  // D(x, y, v). What is subtracted are values, in double, before they multiply a direction.
  template <class P>
  void estimate(P& p, State<P>& s, In<ScalarOf<P>> x, In<ScalarOf<P>> y, In<ScalarOf<P>> v,
                Triple<ScalarOf<P>>& d) const {
    using S = ScalarOf<P>;
    const double width = 2.0 * options_.smoothing_v;
    const auto f = [&](In<S> a, In<S> b) { return p.outer_value(a, b); };
    const auto g = [&](In<S> a, In<S> b) { return p.inner_value(a, b); };
    s.plus = y + S(options_.smoothing_v) * v;
    s.minus = y - S(options_.smoothing_v) * v;
    d.x.setZero();
    d.y.setZero();
    d.v.setZero();
    for (Index i = 0; i < s.r.cols(); ++i) {
      const auto along_y = [&](auto& phi, In<S> at) {
        return slope<S>(at, s.r.col(i), s.shifted_y, [&](In<S> shifted) { return phi(x, shifted); });
      };
      const auto along_x = [&](auto& phi, In<S> other) {
        return slope<S>(x, s.q.col(i), s.shifted_x, [&](In<S> shifted) { return phi(shifted, other); });
      };
      const double product = (along_y(g, s.plus) - along_y(g, s.minus)) / width;
      const double cross = (along_x(g, s.plus) - along_x(g, s.minus)) / width;
      d.y += S(along_y(g, y)) * s.r.col(i);
      d.v += S(product - along_y(f, y)) * s.r.col(i);
      d.x += S(along_x(f, y) - cross) * s.q.col(i);
    }
  }

  // n/(2bρ) [φ(at + ρu) − φ(at − ρu)], n the size of u
  template <class S, class Value>
  [[nodiscard]] double slope(In<S> at, In<S> u, Vector<S>& shifted, Value&& value) const {
    const double rho = options_.smoothing;
    shifted = at + S(rho) * u;
    const double up = value(shifted);
    shifted = at - S(rho) * u;
    const double down = value(shifted);
    return static_cast<double>(u.size()) / (2.0 * static_cast<double>(options_.directions) * rho) * (up - down);
  }
};

}  // namespace obolus
