// The paper's one-dimensional example (§5.2): the inner solution flips sign every round while F stands still.
//     g_t = (μ/2)(y − (−1)^t x)²,     y*_t(x) = (−1)^t x,     V_T = 0,     H_2T = 4(T − 1) on X = [−1, 1].
// variant "paper":     f = c e^(−y²)                 F is least at the ends of X.
// variant "interior":  f = c e^(−y²) + ½ r (x − a/2)², r = 4c e^(−a²)
//                      F is strongly convex near its optimum x = a, where y* still swings by 2a every round and
//                      ∇_y f ≠ 0. An inner loop that lags feels only the pull to a/2, where ∇F ≠ 0; an exact one is
//                      left with the bias D/λ_t of the penalty.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "obolus/core/convex_set.hpp"
#include "obolus/core/knowledge.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus {

enum class OscillationVariant : std::uint8_t { paper, interior };
template <>
struct EnumNames<OscillationVariant> {
  static constexpr std::array<std::pair<OscillationVariant, std::string_view>, 2> values{
      {{OscillationVariant::paper, "paper"}, {OscillationVariant::interior, "interior"}}};
};

struct OscillationOptions {
  OscillationVariant variant = OscillationVariant::paper;
  double c = 1.0;
  double mu = 1.0;
  double a = 0.5;
  double noise = 0.0;

  template <class V>
  void describe(V&& v) {
    v("variant", variant, "paper: F is least at the ends of [−1, 1]; interior: at a");
    v("c", c, "height of f", Range::positive());
    v("mu", mu, "μ_g, curvature of g", Range::positive());
    v("a", a, "place of the interior optimum", Range::positive());
    v("noise", noise, "σ, deviation of a sampled gradient of f and of g", Range::at_least(0));
  }
};

template <class S = double>
class Oscillation {
 public:
  using Scalar = S;
  using Options = OscillationOptions;
  static constexpr std::string_view name = "oscillation";
  static constexpr std::string_view title =
      "the paper's example of an oscillating inner solution (E0); x = 0 is stationary, so start elsewhere";

  Oscillation(const Options& options, std::uint64_t)
      : o_(options), pull_(o_.variant == OscillationVariant::interior ? 4 * o_.c * std::exp(-o_.a * o_.a) : 0.0) {
    validate(o_, "problem");
  }

  [[nodiscard]] Dims dims() const { return {1, 1}; }
  void reveal(Round t) {
    sign_ = t % 2 == 0 ? S(1) : S(-1);
    expectation();
  }

  double outer_value(In<S> x, In<S> y) const {
    const double p = double(x[0]), q = double(y[0]);
    return o_.c * std::exp(-q * q) + 0.5 * pull_ * (p - 0.5 * o_.a) * (p - 0.5 * o_.a) + xi_[0] * p + xi_[1] * q;
  }
  double inner_value(In<S> x, In<S> y) const {
    const double gap = double(y[0]) - double(sign_ * x[0]);
    return 0.5 * o_.mu * gap * gap + zeta_[0] * x[0] + zeta_[1] * y[0];
  }
  void outer_gradient_x(In<S> x, In<S>, Out<S> d) const { d[0] = S(pull_ * (double(x[0]) - 0.5 * o_.a) + xi_[0]); }
  void outer_gradient_y(In<S>, In<S> y, Out<S> d) const {
    const double q = double(y[0]);
    d[0] = S(-2 * o_.c * q * std::exp(-q * q) + xi_[1]);
  }
  void inner_gradient_x(In<S> x, In<S> y, Out<S> d) const {
    d[0] = -sign_ * S(o_.mu) * (y[0] - sign_ * x[0]) + S(zeta_[0]);
  }
  void inner_gradient_y(In<S> x, In<S> y, Out<S> d) const { d[0] = S(o_.mu) * (y[0] - sign_ * x[0]) + S(zeta_[1]); }
  void inner_hvp_yy(In<S>, In<S>, In<S> v, Out<S> d) const { d[0] = S(o_.mu) * v[0]; }
  void inner_hvp_xy(In<S>, In<S>, In<S> v, Out<S> d) const { d[0] = -sign_ * S(o_.mu) * v[0]; }
  void inner_gradient_x_difference(In<S>, In<S>, In<S> delta, Out<S> d) const { d[0] = -sign_ * S(o_.mu) * delta[0]; }
  void inner_gradient_y_difference(In<S>, In<S>, In<S> delta, Out<S> d) const { d[0] = S(o_.mu) * delta[0]; }
  void inner_solution(In<S> x, Out<S> y) const { y[0] = sign_ * x[0]; }

  void resample(SampleSizes sizes, Rng& rng) {
    const double outer = o_.noise / std::sqrt(2.0 * double(sizes.outer));
    const double inner = o_.noise / std::sqrt(2.0 * double(sizes.inner));
    for (double& v : xi_) v = outer * rng.normal();
    for (double& v : zeta_) v = inner * rng.normal();
  }
  void expectation() { xi_[0] = xi_[1] = zeta_[0] = zeta_[1] = 0.0; }

  // With e^(−q²): |first derivative| ≤ √(2/e), |second| ≤ 2. The pull is Lipschitz on a bounded X only.
  [[nodiscard]] Constants constants(const ConvexSet& set) const {
    Constants k;
    const double R = set.max_norm(1) + 0.5 * o_.a, pull = pull_ > 0 ? pull_ * R : 0.0;
    k.L_f0 = std::hypot(o_.c * std::sqrt(2 / std::exp(1.0)), pull);
    k.L_f1 = std::max(2 * o_.c, pull_);
    k.L_g1 = 2 * o_.mu;  // the joint Hessian is μ(1, ∓1)(1, ∓1)'
    k.L_g2 = 0.0;
    k.mu_g = o_.mu;
    k.M = o_.c + (pull_ > 0 ? 0.5 * pull_ * R * R : 0.0);
    if (pull_ > 0) k.region = "x in X";
    k.sigma = o_.noise;
    return k;
  }
  [[nodiscard]] Variation variation(Round, const ConvexSet& set) const {
    const double swing = 4 * std::pow(set.max_norm(1), 2);  // |2x|² at the ends of X
    return {0.0, swing, 0.0, o_.mu * o_.mu * swing, 0.0, 0.0, 4 * o_.mu * o_.mu};
  }

 private:
  Options o_;
  double pull_;  // r
  S sign_ = S(-1);
  double xi_[2] = {0, 0}, zeta_[2] = {0, 0};
};

}  // namespace obolus
