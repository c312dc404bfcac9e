// An optimiser of your own: the penalty method with a constant multiplier λ. Per round, K times
//     z ← z − α g_y(x, z),   y ← y − (α/λ)(f_y + λ g_y)(x, y);
// then d = f_x(x, y) + λ(g_x(x, y) − g_x(x, z)) and a step of x along −d. Costs 2K g_y, K f_y, 1 f_x and 2 g_x.
// docs/adding-an-optimiser.md quotes this file, and a test compares them.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "obolus/any/session.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/inner.hpp"
#include "obolus/optimisers/info.hpp"
#include "obolus/optimisers/optimiser_base.hpp"

using namespace obolus;

struct ConstantPenaltyOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  Schedule inner_steps = 5.0;
  double lambda = 10.0;
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of z, α_t; y takes α_t/λ", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::positive());
    v("inner_steps", inner_steps, "K_t, steps of y and z per round", Range::count());
    v("lambda", lambda, "the multiplier", Range::positive());
    outer.describe(v);
  }
};

class ConstantPenalty : public OptimiserBase<ConstantPenaltyOptions> {
 public:
  static constexpr OptimiserInfo info{"constant_penalty", "a penalty method with a constant multiplier",
                                      "examples/own_optimiser.cpp", /*needs_hvp=*/false, /*stochastic=*/false};
  using OptimiserBase::OptimiserBase;

  // Everything that changes from round to round, and buffers.
  template <class P>
  struct State {
    using S = ScalarOf<P>;
    Round t = 0;          // rounds done
    Vector<S> x;          // committed for the round to come
    Vector<S> direction;  // d of the last round
    Inner<P> y, z;
    OuterMemory<S> outer;
    InnerSpace<P> space;  // scratch

    State(P& p, In<S> x0, In<S> y0)
        : x(x0), direction(Vector<S>::Zero(x0.size())), y(make(p, y0)), z(make(p, y0)), space(p) {}

    // The checkpoint: everything but scratch.
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

  // Makes every allocation.
  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0);
    project_start(s);  // x_1 onto X, and the memory of the outer step
    return s;
  }

  // Allocates nothing, throws nothing, prints nothing.
  template <FirstOrderOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    const std::int64_t steps = options_.inner_steps.count(s.t);
    const double alpha = options_.alpha(s.t), lambda = options_.lambda;
    Step report{.penalised = true, .lambda = lambda, .inner_iterations = steps, .steps_y = steps, .steps_z = steps};
    s.space.descend_pair(p, s.x, s.y, s.z, alpha / lambda, {1.0, lambda}, alpha, steps);
    if (s.space.all_finite(p, s.y) && s.space.all_finite(p, s.z))
      s.space.penalty_direction(p, s.x, s.y, s.z, lambda, s.direction);
    else report.status = Status::non_finite_inner;
    return outer_update(options_.gamma(s.t), s, report);
  }

  // The committed model.
  template <FirstOrderOracle P>
  void read_y(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.y, out);
  }
  // Optional: the plain inner iterate. Without it y stands for z.
  template <FirstOrderOracle P>
  void read_z(P& p, State<P>& s, Out<ScalarOf<P>> out) const {
    s.space.to_dense(p, s.z, out);
  }
};

// y follows x and a drift u:   g = ½(y − x − u)²,   f = ½(y − 1)²,   hence the best x is 1 − u.
struct Tracking {
  using Scalar = double;
  double u = 0.0;
  Dims dims() const { return {1, 1}; }
  void reveal(Round t) { u = 0.001 * static_cast<double>(t); }
  double outer_value(In<double>, In<double> y) { return 0.5 * (y[0] - 1) * (y[0] - 1); }
  double inner_value(In<double> x, In<double> y) { return 0.5 * (y[0] - x[0] - u) * (y[0] - x[0] - u); }
  void outer_gradient_x(In<double>, In<double>, Out<double> d) { d[0] = 0.0; }
  void outer_gradient_y(In<double>, In<double> y, Out<double> d) { d[0] = y[0] - 1; }
  void inner_gradient_x(In<double> x, In<double> y, Out<double> d) { d[0] = x[0] + u - y[0]; }
  void inner_gradient_y(In<double> x, In<double> y, Out<double> d) { d[0] = y[0] - x[0] - u; }
};

int main() {
  Tracking problem;
  const ConstantPenalty optimiser({.alpha = 0.5, .gamma = 0.2}, ConvexSet::box(-3, 3));
  const Vector<double> start = Vector<double>::Zero(1);
  Session session(optimiser, problem, start, start);
  for (Round t = 1; t <= 1000; ++t) {
    problem.reveal(t);
    if (session.step(Rng(1)).status != Status::ok) return 1;
  }
  const double x = session.x()[0], best = 1 - problem.u;
  std::printf("x = %.4f, best %.4f, %lld gradients of g\n", x, best, static_cast<long long>(session.counts().grad_g()));
  return std::abs(x - best) < 0.02 ? 0 : 1;
}
