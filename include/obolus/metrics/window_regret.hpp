// Window-averaged bilevel local regret, by which methods with a window are analysed (paper, Table 2; spec §4):
//     Σ_t |G_X(x_t, (1/W) Σ_{i<w} δ^i ∇F_{t−i}(·), γ)|²,     W = Σ_{i<w} δ^i,     F_s = 0 for s ≤ 0.
// `current`: past functions at the current point, ∇F_{t−i}(x_t), as OAGD, OBBO and SOBBO are measured. Past rounds are
// revealed again; nothing of them is stored. `trailing`: every function at its own point, ∇F_{t−i}(x_{t−i}), as SOBOW
// is. With w = 1 both are the regret. A round whose window has a ∇F that is not usable is left out of that sum.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "obolus/core/archive.hpp"
#include "obolus/core/gradient_mapping.hpp"
#include "obolus/core/past_rounds.hpp"
#include "obolus/core/window.hpp"
#include "obolus/metrics/hypergradient.hpp"

namespace obolus {

struct WindowSums {
  std::int64_t window = 1;
  double decay = 1.0;
  double current = 0.0, trailing = 0.0;  // NaN: not measured
  std::int64_t left_out = 0;             // rounds that one or both leave out

  void fields(Archive& a) {
    a("current", current);
    a("trailing", trailing);
    a("left_out", left_out);
  }
};

template <FirstOrderOracle P>
class WindowRegret {
  using S = ScalarOf<P>;

 public:
  WindowRegret(P& problem, const ConvexSet& set, double gamma, std::int64_t window, double decay,
               ReferenceSteps reference)
      : sums_{window, decay},
        set_(set),
        gamma_(gamma),
        past_(problem, reference),
        trail_(problem.dims().x, window),
        sum_(problem.dims().x),
        gradient_(problem.dims().x),
        scratch_(problem.dims().x) {
    if (!Stream<P>) sums_.current = std::numeric_limits<double>::quiet_NaN();
  }

  // The terms of a round that did not give a number are NaN.
  struct Terms {
    double current, trailing;
  };

  // Round t, which is current and stays so, at the committed (x, y). `gradient` is ∇F_t(x), if it is `usable`.
  Terms add(P& problem, Round t, In<S> x, In<S> y, In<S> gradient, bool usable) {
    gradient_ = gradient;
    if (!usable) gradient_.setConstant(std::numeric_limits<S>::quiet_NaN());
    trail_.push(gradient_);
    trail_.sum(sums_.decay, sum_);
    const double trailing = mapping(x);
    sum_ = gradient_;
    const double current = usable && add_past(problem, t, x, y) ? mapping(x) : std::numeric_limits<double>::quiet_NaN();
    if (!std::isnan(trailing)) sums_.trailing += trailing;
    if (!std::isnan(current)) sums_.current += current;
    if (std::isnan(trailing) || (Stream<P> && std::isnan(current))) ++sums_.left_out;
    return {current, trailing};
  }

  [[nodiscard]] const WindowSums& sums() const { return sums_; }

  void fields(Archive& a) {
    a("sums", sums_);
    a("past", past_);
    a("trail", trail_);
  }

 private:
  // sum_ += Σ_{0<i<w} δ^i ∇F_{t−i}(x); false where one of them is not usable.
  bool add_past(P& problem, Round t, In<S> x, In<S> y) {
    if constexpr (Stream<P>) {
      bool usable = true;
      double weight = 1.0;
      PastRounds<P>(problem, t, sums_.window).each([&](std::int64_t age) {
        if (age == 0) return;
        weight *= sums_.decay;
        past_(problem, x, y, gradient_);
        usable = usable && past_.usable();
        sum_ += S(weight) * gradient_;
      });
      return usable;
    }
    return false;
  }

  // |G_X(x, sum_/W, γ)|², NaN where it is not finite.
  double mapping(In<S> x) {
    sum_ /= S(full_weight(sums_.decay, sums_.window));
    const double squared = gradient_mapping_squared<S>(set_, x, sum_, gamma_, scratch_);
    return std::isfinite(squared) ? squared : std::numeric_limits<double>::quiet_NaN();
  }

  WindowSums sums_;
  ConvexSet set_;
  double gamma_;
  Hypergradient<P> past_;  // of past rounds: its own, so that measuring them leaves the plain regret as it is
  Window<S> trail_;        // of ∇F_t(x_t)
  Vector<S> sum_, gradient_, scratch_;
};

}  // namespace obolus
