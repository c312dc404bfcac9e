// SOBOW (Lin et al., NeurIPS 2023): ONE step y ← y − α g_y; v from Q_t CG iterations on g_yy v = f_y, warm;
// h_t = f_x − g_xy v;
//     d_t = (1/W) Σ_{i<w} η^i h_{t−i},   W = Σ_{i<w} η^i,
// of STORED hypergradients, each at its own old point; x-step. h_s = 0 for s ≤ 0: W is the full one from round 1.
// A round costs one g_y, f_y, f_x and g_xy v, and Q_t + 1 products g_yy v.
//
// Sourced: the window over stored estimates, one inner step, CG. Reconstructed: η = 0.9 and the warm start of CG.
// Q_t = t in theory (hence O(T²) products in Table 1), 5 in the paper's runs.
#pragma once

#include "obolus/optimisers/implicit.hpp"

namespace obolus {

struct SobowOptions {
  Schedule alpha = 0.1;
  Schedule gamma = 0.01;
  std::int64_t window = 1;
  double decay = 0.9;
  Schedule system_steps = 5.0;
  SystemSolver system_solver = SystemSolver::cg;
  std::optional<Schedule> v_step = {};
  double damping = 0.0;
  std::optional<double> radius = {};
  InnerStepOptions inner = {};
  OuterStepOptions outer = {};

  template <class V>
  void describe(V&& v) {
    v("alpha", alpha, "step size of y, α_t", Range::positive());
    v("gamma", gamma, "outer step size, γ_t", Range::outer_step());
    v("window", window, "w, stored hypergradients averaged", Range::between(1, 1e6));
    v("decay", decay, "η, weight of a stored hypergradient against the one after it", Range::between(0, 1));
    describe_system(*this, v, "Q_t, steps on each linear system; theory: t");
    inner.describe(v);
    outer.describe(v);
  }
};

class Sobow : public ImplicitOptimiser<SobowOptions> {
 public:
  static constexpr OptimiserInfo info{"sobow", "SOBOW: window-averaged hypergradients, conjugate gradients",
                                      "Lin et al., NeurIPS 2023", /*needs_hvp=*/true};
  using ImplicitOptimiser::ImplicitOptimiser;

  template <class P>
  struct State : ImplicitState<P> {
    using S = ScalarOf<P>;
    Vector<S> h;  // scratch
    Window<S> past;
    State(P& p, In<S> x0, In<S> y0, std::int64_t window)
        : ImplicitState<P>(p, x0, y0), h(x0.size()), past(x0.size(), window) {}
    void fields(Archive& a) {
      ImplicitState<P>::fields(a);
      a("past", past);
    }
  };

  template <FirstOrderOracle P>
  [[nodiscard]] State<P> init(P& p, In<ScalarOf<P>> x0, In<ScalarOf<P>> y0) const {
    State<P> s(p, x0, y0, options_.window);
    project_start(s);
    return s;
  }

  template <HvpOracle P>
  Step step(P& p, State<P>& s, const Rng&) const {
    ++s.t;
    Step report{.inner_iterations = 1, .steps_y = 1};
    descend<P>(p, s, options_.alpha(s.t));
    hypergradient<P>(p, s, system(s.t), report, s.h);
    if (report.status == Status::ok) {
      s.past.push(s.h);
      s.past.sum(options_.decay, s.direction);
      s.direction /= ScalarOf<P>(full_weight(options_.decay, options_.window));
    }
    return outer_update(options_.gamma(s.t), s, report);
  }
};

}  // namespace obolus
