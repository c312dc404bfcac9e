// Measures a round: the regret by which an online bilevel optimiser is judged, and every other number of a row.
//     BLReg(T) = Σ_t |G_X(x_t, ∇F_t(x_t), γ)|²   (paper, eq. reg_F), at the committed x_t with the true ∇F_t.
// With a window, also its window-averaged forms (metrics/window_regret.hpp).
// Everything here uses the plain, uncounted oracle, outside the optimiser's clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "obolus/any/session.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/evaluation.hpp"
#include "obolus/core/gradient_mapping.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/norm.hpp"
#include "obolus/core/status.hpp"
#include "obolus/metrics/certified_distances.hpp"
#include "obolus/metrics/hypergradient.hpp"
#include "obolus/metrics/prequential.hpp"
#include "obolus/metrics/row.hpp"
#include "obolus/metrics/window_regret.hpp"

namespace obolus {

// What is measured and when. The last round of a run is always measured and evaluated. A round that is not measured
// costs nothing here, whatever the size of y.
struct MeterOptions {
  bool regret = true;                 // needs the reference hypergradient of every round
  bool residuals = true;              // two more dense gradients per measured round, three under a penalty
  Round every = 1;                    // rounds between measured ones
  Round evaluate_every = 0;           // rounds between evaluated ones; 0: the last round only
  std::vector<Round> evaluated = {};  // and these, in increasing order
  ReferenceSteps reference = {};      // where the inner problem cannot be solved
  Constants constants = {};           // certify distances where they are known
  std::int64_t window = 0;            // rounds of a window-averaged regret; 0: not measured
  double window_decay = 1.0;          // δ, a round's weight in it against the one after it

  [[nodiscard]] bool evaluates(Round t, bool last) const {
    return last || (evaluate_every > 0 && t % evaluate_every == 0) ||
           std::binary_search(evaluated.begin(), evaluated.end(), t);
  }
  [[nodiscard]] bool measures(Round t, bool last) const { return t % every == 0 || evaluates(t, last); }
};

template <FirstOrderOracle P>
class RoundMeter {
  using S = ScalarOf<P>;

 public:
  // `gamma` is the one γ of the regret, whatever the optimiser's schedule.
  RoundMeter(P& problem, const ConvexSet& set, double gamma, MeterOptions options = {})
      : set_(set),
        gamma_(gamma),
        options_(std::move(options)),
        convex_(capabilities_of(problem).convex),
        x_(problem.dims().x),
        difference_(problem.dims().x),
        y_(problem.dims().y) {
    if (options_.every < 1 || (options_.regret && options_.every > 1 && options_.reference.steps == 0))
      throw ConfigError("every: got " + std::to_string(options_.every) +
                        ", expected 1: the regret is a sum over all rounds");
    if (options_.window > 0 && (!options_.regret || options_.every > 1))
      throw ConfigError("window: got " + std::to_string(options_.window) +
                        ", expected 0: a window needs the reference hypergradient of every round");
    const Dims dims = problem.dims();
    if (options_.regret) {
      hypergradient_.emplace(problem, options_.reference);
      true_.resize(dims.x);
    }
    if (options_.window > 0)
      window_.emplace(problem, set_, gamma_, options_.window, options_.window_decay, options_.reference);
    if (options_.residuals)
      for (Vector<S>* v : {&z_, &f_y_, &g_y_}) v->resize(dims.y);
  }

  // After the reveal, before the update: the committed pair is measured. `last`: no round follows.
  void before(P& problem, AnySession<S>& session, Row& row, bool last) {
    row.measured = options_.measures(row.t, last);
    if (!row.measured) return;
    x_ = session.x();
    session.read_y(y_);
    row.f = problem.outer_value(x_, y_);
    row.g = problem.inner_value(x_, y_);
    measure_regret(problem, row);
    evaluate(problem, row, last);
  }

  // After the update: what the optimiser believed, and how well its inner problems were solved.
  void after(P& problem, AnySession<S>& session, const Step& step, Row& row) {
    row.lambda = step.lambda;
    row.inner_steps = step.inner_iterations;
    row.inner_steps_y = step.steps_y;
    row.inner_steps_z = step.steps_z;
    row.capped = step.capped;
    row.indefinite = step.indefinite;
    row.counts = session.counts();
    capped_rounds_ += step.capped ? 1 : 0;
    indefinite_rounds_ += step.indefinite ? 1 : 0;
    if (!row.measured) return;
    const bool rests = step.gamma == 0.0;  // the mapping needs γ > 0; a round without an outer step adds nothing
    row.own_mapping = rests ? 0.0 : gradient_mapping_squared<S>(set_, x_, session.direction(), step.gamma, difference_);
    if (row.has_regret) {
      difference_ = session.direction() - true_;
      row.hypergradient_error = euclidean_norm<S>(difference_);
    }
    if (options_.residuals) measure_residuals(problem, session, step, row);
    guard(row);
  }

  [[nodiscard]] const MeterOptions& options() const { return options_; }
  // NaN when every round was left out.
  [[nodiscard]] double regret() const { return left_out_ > 0 && regret_ == 0.0 ? Row::absent : regret_; }
  [[nodiscard]] double gamma() const { return gamma_; }
  [[nodiscard]] std::int64_t capped_rounds() const { return capped_rounds_; }
  [[nodiscard]] std::int64_t indefinite_rounds() const { return indefinite_rounds_; }
  // Rounds whose reference solve did not reach its tolerance; none with a closed form.
  [[nodiscard]] std::int64_t untrusted() const { return untrusted_; }
  // Rounds without a usable ∇F_t, which the regret leaves out.
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }
  // Window-averaged regrets; none without a window.
  [[nodiscard]] std::optional<WindowSums> window() const {
    return window_ ? std::optional(window_->sums()) : std::nullopt;
  }
  [[nodiscard]] const Vector<S>& x() const { return x_; }  // committed in the round last measured
  [[nodiscard]] const Vector<S>& y() const { return y_; }
  [[nodiscard]] const Vector<S>& true_hypergradient() const { return true_; }  // empty without the regret
  [[nodiscard]] bool closed_form() const { return hypergradient_ && hypergradient_->closed_form(); }

  void fields(Archive& a) {
    a("regret", regret_);
    a("untrusted", untrusted_);
    a.added("left_out", left_out_);
    a("prequential", prequential_);
    a("own", own_);
    a("capped", capped_rounds_);
    a("indefinite", indefinite_rounds_);
    if (hypergradient_) a("hypergradient", *hypergradient_);
    if (window_) a("window", *window_);
  }

 private:
  void measure_regret(P& problem, Row& row) {
    if (!hypergradient_ || row.t % options_.every != 0) return;
    const bool trusted = (*hypergradient_)(problem, x_, y_, true_);
    const double increment = gradient_mapping_squared<S>(set_, x_, true_, gamma_, difference_);
    const bool usable = hypergradient_->usable() && std::isfinite(increment);
    if (window_) measure_window(problem, row, usable);
    if (!trusted || !usable) {
      ++untrusted_;
      row.untrusted = 1.0;
    }
    // The measurement failed, not the run: it goes on, and this round is left out.
    if (!usable) {
      ++left_out_;
      return;
    }
    row.regret_increment = increment;
    regret_ += static_cast<double>(options_.every) * increment;  // the round also stands for those not measured
    row.regret = regret_;
    row.has_regret = true;
  }

  void measure_window(P& problem, Row& row, bool usable) {
    const auto [current, trailing] = window_->add(problem, row.t, x_, y_, true_, usable);
    if (std::isfinite(current)) row.window_regret = window_->sums().current;
    if (std::isfinite(trailing)) row.trailing_regret = window_->sums().trailing;
  }

  // Rounds that are measured out of turn do not enter later means, which must not depend on where a run was evaluated
  // or interrupted.
  void evaluate([[maybe_unused]] P& problem, Row& row, bool last) {
    const bool evaluated = options_.evaluates(row.t, last);
    if constexpr (Evaluated<P>)
      if (evaluated) problem.evaluate(x_, y_, row.evaluation);
    if constexpr (Judged<P>) {
      problem.judge(x_, y_, row.judged);
      if (evaluated) prequential_.append_means_with(row.judged, row.evaluation);
      if (row.t % options_.every == 0) prequential_.add(row.judged);
    }
  }

  void measure_residuals(P& problem, AnySession<S>& session, const Step& step, Row& row) {
    session.read_y(z_);  // y_ keeps the committed model
    problem.inner_gradient_y(x_, z_, g_y_);
    if (step.penalised) {
      problem.outer_gradient_y(x_, z_, f_y_);
      f_y_ += S(step.lambda) * g_y_;
    } else {
      f_y_ = g_y_;
    }
    row.residual_y = euclidean_norm<S>(f_y_);
    f_y_ = z_;
    session.read_z(z_);
    if (step.penalised) {
      f_y_ -= z_;
      row.separation = euclidean_norm<S>(f_y_) / euclidean_norm<S>(z_);
    }
    problem.inner_gradient_y(x_, z_, g_y_);
    row.residual_z = euclidean_norm<S>(g_y_);
    row.has_residuals = true;
    const CertifiedDistances distances = certified_distances(row, options_.constants);
    row.distance_y = distances.y.value_or(Row::absent);
    row.distance_z = distances.z.value_or(Row::absent);
  }

  // Where no theory holds, an evaluation also says how far the run is from what a theory would ask for: the sum of the
  // optimiser's own mappings, the rounds at the cap and with negative curvature so far, and how far y and z are apart.
  void guard(Row& row) {
    if (row.t % options_.every == 0) own_ += static_cast<double>(options_.every) * row.own_mapping;
    if (convex_ || row.evaluation.empty()) return;
    row.evaluation.add("own_regret", own_);
    row.evaluation.add("capped_rounds", static_cast<double>(capped_rounds_));
    row.evaluation.add("indefinite_rounds", static_cast<double>(indefinite_rounds_));
    if (std::isfinite(row.separation)) row.evaluation.add("separation", row.separation);
  }

  ConvexSet set_;
  double gamma_;
  MeterOptions options_;
  bool convex_;
  double regret_ = 0.0, own_ = 0.0;
  std::int64_t capped_rounds_ = 0, indefinite_rounds_ = 0, untrusted_ = 0, left_out_ = 0;
  Prequential prequential_;
  std::optional<Hypergradient<P>> hypergradient_;
  std::optional<WindowRegret<P>> window_;
  Vector<S> x_, true_, difference_, y_, z_, f_y_, g_y_;
};

}  // namespace obolus
