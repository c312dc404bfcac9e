// F³SA (Kwon et al., ICML 2023): the penalty method with one step per round and STORM momentum on every term.
// With the estimates h of g_y(x, z), f_y(x, y), g_y(x, y):
//     z⁺ = z − α h_gz,   y⁺ = y − β_t (h_fy + λ_t h_gy),
// and then, at (x, y⁺, z⁺), those of f_x(x, y⁺), g_x(x, y⁺), g_x(x, z⁺):
//     d = h_fx + λ_t (h_gxy − h_gxz);   x-step;   λ_{t+1} = λ_t + δ_t.
// Each h follows storm.hpp: h_t = now + (1 − η_t)(h_{t−1} − before), `before` being the same term where the last round
// asked for it, on the CURRENT functions and the SAME sample; h_1 = now. A round costs 4 g_y, 2 f_y, 2 f_x and 4 g_x,
// the first round half of that.
//
// Sourced: single step, momentum on every term, growing λ. Reconstructed: the order z, y, x, one η for all terms,
// δ_t = t^(−2/3).
#pragma once

#include "obolus/core/archive.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/samples.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"
#include "obolus/optimisers/penalty_options.hpp"
#include "obolus/optimisers/storm.hpp"

namespace obolus {

struct F3saOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  double lambda1 = 5.0;
  Schedule increment = Schedule(1.0, -2.0 / 3.0);
  BetaRule beta_rule = BetaRule::alpha_over_lambda;
  Schedule beta = 0.01;
  std::optional<double> L_g1 = {};
  Schedule momentum = 0.9;
  RoundSamples samples = RoundSamples::round;
  Schedule batch = 256.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    describe_penalty(*this, v);
    v("momentum", momentum, "η_t: 1 forgets the past, 0 never does", Range::between(0.0, 1.0));
    v("samples", samples, "round: one batch per round; given: none, the functions as the round reveals them");
    v("batch", batch, "samples per round, used at both points", Range::count());
    outer.describe(v);
  }
};

class F3sa : public OptimiserBase<F3saOptions> {
 public:
  static constexpr OptimiserInfo info{"f3sa", "F³SA: one step per round, momentum on every term",
                                      "Kwon et al., ICML 2023", /*needs_hvp=*/false, /*stochastic=*/true};
  using OptimiserBase::OptimiserBase;

  template <class P>
  struct State {
    using S = ScalarOf<P>;
    Round t = 0;          // rounds done
    double lambda = 1.0;  // of the round to come
    Vector<S> x;          // committed for the round to come
    Vector<S> direction;  // d of the last round
    Vector<S> y, z;
    Vector<S> last_x, last_y, last_z;   // of the round before
    Vector<S> g_y_at_z, f_y, g_y;       // the estimates that move z and y,
    Vector<S> f_x, g_x_at_y, g_x_at_z;  // and those that move x
    OuterMemory<S> outer;
    Vector<S> raw_x, raw_y;  // scratch

    State(In<S> x0, In<S> y0) : x(x0), y(y0), z(y0), last_x(x0), last_y(y0), last_z(y0) {
      for (Vector<S>* v : {&direction, &f_x, &g_x_at_y, &g_x_at_z, &raw_x}) v->setZero(x0.size());
      for (Vector<S>* v : {&g_y_at_z, &f_y, &g_y, &raw_y}) v->setZero(y0.size());
    }

    void fields(Archive& a) {
      a("t", t);
      a("lambda", lambda);
      a("x", x);
      a("direction", direction);
      a("y", y);
      a("z", z);
      a("last_x", last_x);
      a("last_y", last_y);
      a("last_z", last_z);
      a("g_y_at_z", g_y_at_z);
      a("f_y", f_y);
      a("g_y", g_y);
      a("f_x", f_x);
      a("g_x_at_y", g_x_at_y);
      a("g_x_at_z", g_x_at_z);
      a("outer", outer);
    }
  };

  // x_1 is projected onto X; z_1 = y_1.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P&, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(x0, y0);
    project_start(s);
    s.lambda = options_.lambda1;
    return s;
  }

  template <FirstOrderOracle P>
  void read_y(P&, State<P>& s, Out<ScalarOf<P>> out) const {
    out = s.y;
  }
  template <FirstOrderOracle P>
  void read_z(P&, State<P>& s, Out<ScalarOf<P>> out) const {
    out = s.z;
  }

  template <StochasticOracle P>
  Step step(P& p, State<P>& s, const Rng& rng) const {
    ++s.t;
    Step report{.penalised = true, .lambda = s.lambda, .inner_iterations = 1, .steps_y = 1, .steps_z = 1};
    if (draws_any(options_.samples)) {
      Rng draws = rng.child("samples", static_cast<std::uint64_t>(s.t));
      const std::int64_t batch = options_.batch.count(s.t);
      p.resample({batch, batch}, draws);
    }
    move_inner<P>(p, s);
    if (!s.y.allFinite() || !s.z.allFinite()) report.status = Status::non_finite_inner;
    else estimate_direction<P>(p, s);
    if (draws_any(options_.samples)) p.expectation();
    s.last_x = s.x;
    s.lambda += options_.increment(s.t);
    return outer_update(options_.gamma(s.t), s, report);
  }

 private:
  // h ← gradient(x_t, now) + (1 − η)(h − gradient(x_{t−1}, before))
  template <class P, class Gradient>
  void update(const State<P>& s, Vector<ScalarOf<P>>& h, Vector<ScalarOf<P>>& raw, const Vector<ScalarOf<P>>& before,
              const Vector<ScalarOf<P>>& now, Gradient&& gradient) const {
    storm<ScalarOf<P>>(
        s.t, {{h, raw, options_.momentum(s.t)}}, [&] { gradient(s.last_x, before, raw); },
        [&] { gradient(s.x, now, raw); });
  }

  // (y, z) ← (y⁺, z⁺); the old ones become last_y and last_z.
  template <class P>
  void move_inner(P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    const auto f_y = [&](In<S> x, In<S> y, Out<S> d) { p.outer_gradient_y(x, y, d); };
    const auto g_y = [&](In<S> x, In<S> y, Out<S> d) { p.inner_gradient_y(x, y, d); };
    update<P>(s, s.g_y_at_z, s.raw_y, s.last_z, s.z, g_y);
    update<P>(s, s.f_y, s.raw_y, s.last_y, s.y, f_y);
    update<P>(s, s.g_y, s.raw_y, s.last_y, s.y, g_y);
    s.last_y = s.y;
    s.last_z = s.z;
    s.z -= S(options_.alpha(s.t)) * s.g_y_at_z;
    s.y -= S(beta_at(options_, s.t, s.lambda)) * (s.f_y + S(s.lambda) * s.g_y);
  }

  // Last round these terms were asked at (x_{t−1}, y_t, z_t), now last_x, last_y and last_z.
  template <class P>
  void estimate_direction(P& p, State<P>& s) const {
    using S = ScalarOf<P>;
    const auto f_x = [&](In<S> x, In<S> y, Out<S> d) { p.outer_gradient_x(x, y, d); };
    const auto g_x = [&](In<S> x, In<S> y, Out<S> d) { p.inner_gradient_x(x, y, d); };
    update<P>(s, s.f_x, s.raw_x, s.last_y, s.y, f_x);
    update<P>(s, s.g_x_at_y, s.raw_x, s.last_y, s.y, g_x);
    update<P>(s, s.g_x_at_z, s.raw_x, s.last_z, s.z, g_x);
    s.direction = s.f_x + S(s.lambda) * (s.g_x_at_y - s.g_x_at_z);
  }
};

}  // namespace obolus
