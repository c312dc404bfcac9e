// The measure an online bilevel optimiser is judged by, and what surrounds it in a trace row.
//     BLReg(T) = Σ_t |G_X(x_t, ∇F_t(x_t), γ)|²   (paper, eq. reg_F), at the committed x_t with the true ∇F_t.
// Everything here uses the plain, uncounted oracle and stands outside the optimiser's clock.
#pragma once

#include <cmath>
#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/counted.hpp"
#include "obolus/core/gradient_mapping.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/status.hpp"
#include "obolus/metrics/hypergradient.hpp"
#include "obolus/run/session.hpp"

namespace obolus {

// One round as numbers. Counters and `regret` are cumulative and stand after round t; f and g are those of the committed
// (x_t, y_t); the residuals are those of the y and z that the round's update ended with, at x_t.
struct Row {
  Round t = 0;
  double f = 0, g = 0;
  double regret = 0, regret_increment = 0;
  double own_mapping = 0;          // |G_X(x_t, d_t, γ_t)|²
  double hypergradient_error = 0;  // |d_t − ∇F_t(x_t)|
  double residual_y = 0;           // |∇_y f + λ_t ∇_y g|, or |∇_y g| for a method without a penalty
  double residual_z = 0;           // |∇_y g|
  double lambda = 0;
  std::int64_t inner_steps = 0, inner_steps_y = 0, inner_steps_z = 0;
  bool capped = false;
  OracleCounts counts{};
  double seconds = 0;  // spent in updates so far
};

template <FirstOrderOracle P>
class RegretMeter {
  using S = ScalarOf<P>;

 public:
  // `gamma` is the one γ of the regret, whatever the optimiser's schedule.
  RegretMeter(P& problem, const ConvexSet& set, double gamma)
      : set_(set),
        gamma_(gamma),
        hypergradient_(problem),
        x_(problem.dims().x),
        true_(problem.dims().x),
        difference_(problem.dims().x),
        y_(problem.dims().y),
        z_(problem.dims().y),
        f_y_(problem.dims().y),
        g_y_(problem.dims().y) {}

  // After the reveal, before the update: the committed pair is measured.
  void before(P& problem, AnySession<S>& session, Row& row) {
    x_ = session.x();
    session.copy_y(y_);
    row.f = problem.outer_value(x_, y_);
    row.g = problem.inner_value(x_, y_);
    if (!hypergradient_(problem, x_, true_)) ++untrusted_;
    row.regret_increment = gradient_mapping_squared<S>(set_, x_, true_, gamma_, difference_);
    regret_ += row.regret_increment;
    row.regret = regret_;
  }

  // After the update: what the optimiser believed, and how well its inner problems were solved.
  void after(P& problem, AnySession<S>& session, const Step& step, Row& row) {
    row.own_mapping = gradient_mapping_squared<S>(set_, x_, session.direction(), step.gamma, difference_);
    difference_ = session.direction() - true_;
    row.hypergradient_error = euclidean_norm<S>(difference_);
    session.copy_y(z_);  // y_ keeps the committed model
    problem.inner_gradient_y(x_, z_, g_y_);
    if (step.penalised) {
      problem.outer_gradient_y(x_, z_, f_y_);
      f_y_ += S(step.lambda) * g_y_;
    } else {
      f_y_ = g_y_;
    }
    row.residual_y = euclidean_norm<S>(f_y_);
    session.copy_z(z_);
    problem.inner_gradient_y(x_, z_, g_y_);
    row.residual_z = euclidean_norm<S>(g_y_);
    row.lambda = step.lambda;
    row.inner_steps = step.inner_iterations;
    row.inner_steps_y = step.steps_y;
    row.inner_steps_z = step.steps_z;
    row.capped = step.capped;
    row.counts = session.counts();
  }

  [[nodiscard]] double regret() const { return regret_; }
  [[nodiscard]] double gamma() const { return gamma_; }
  // Rounds whose reference solve did not reach its tolerance; none with a closed form.
  [[nodiscard]] std::int64_t untrusted() const { return untrusted_; }
  [[nodiscard]] const Vector<S>& x() const { return x_; }  // committed in the round last measured
  [[nodiscard]] const Vector<S>& y() const { return y_; }
  [[nodiscard]] const Vector<S>& true_hypergradient() const { return true_; }
  [[nodiscard]] bool closed_form() const { return hypergradient_.closed_form(); }

  void fields(Archive& a) { a("regret", regret_), a("untrusted", untrusted_), a("hypergradient", hypergradient_); }

 private:
  ConvexSet set_;
  double gamma_;
  double regret_ = 0.0;
  std::int64_t untrusted_ = 0;
  Hypergradient<P> hypergradient_;
  Vector<S> x_, true_, difference_, y_, z_, f_y_, g_y_;
};

}  // namespace obolus
