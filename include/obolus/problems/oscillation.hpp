// The paper's one-dimensional example (§5.2): the inner solution flips sign every round while F stands still.
//     g_t = (μ/2)(y − (−1)^t x)²,     y*_t(x) = (−1)^t x,     V_T = 0,     H_2T = 4(T − 1) on X = [−1, 1].
// variant "paper":     f = c e^(−y²),                        F is least at the ends of X.
// variant "interior":  f = −c (y/a)² e^(1 − (y/a)²),         F is least at x = ±a, inside X, where y* still swings by 2a:
//                      an inner loop that lags never sees the right hypergradient there.
#pragma once

#include <cmath>
#include <string_view>

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
    v("variant", variant, "paper: F is least at the ends of [−1, 1]; interior: at ±a");
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
  static constexpr std::string_view title = "the paper's example of an oscillating inner solution (E0)";

  Oscillation(const Options& options, std::uint64_t) : o_(options) { validate(o_, "problem"); }

  [[nodiscard]] Dims dims() const { return {1, 1}; }
  void reveal(Round t) {
    sign_ = t % 2 == 0 ? S(1) : S(-1);
    expectation();
  }

  double outer_value(In<S> x, In<S> y) const {
    const double q = double(y[0]) / width();
    return (paper() ? o_.c * std::exp(-q * q) : -o_.c * q * q * std::exp(1 - q * q)) + xi_[0] * x[0] + xi_[1] * y[0];
  }
  double inner_value(In<S> x, In<S> y) const {
    const double gap = double(y[0]) - double(sign_ * x[0]);
    return 0.5 * o_.mu * gap * gap + zeta_[0] * x[0] + zeta_[1] * y[0];
  }
  void outer_gradient_x(In<S>, In<S>, Out<S> d) const { d[0] = S(xi_[0]); }
  void outer_gradient_y(In<S>, In<S> y, Out<S> d) const {
    const double q = double(y[0]) / width();
    const double slope = paper() ? -2 * q * std::exp(-q * q) : -2 * q * (1 - q * q) * std::exp(1 - q * q);
    d[0] = S(o_.c * slope / width() + xi_[1]);
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

  [[nodiscard]] Constants constants(const ConvexSet&) const {
    Constants k;
    // φ(q) = e^(−q²): |φ'| ≤ √(2/e), |φ''| ≤ 2.   φ(q) = q² e^(1−q²): |φ'| ≤ 1.5964 (at q² = (5 − √17)/4), |φ''| ≤ 2e.
    k.L_f0 = o_.c * (paper() ? std::sqrt(2 / std::exp(1.0)) : 1.5964 / o_.a);
    k.L_f1 = o_.c * (paper() ? 2.0 : 2 * std::exp(1.0) / (o_.a * o_.a));
    k.L_g1 = 2 * o_.mu;  // the joint Hessian is μ(1, ∓1)(1, ∓1)'
    k.L_g2 = 0.0;
    k.mu_g = o_.mu;
    k.M = o_.c;
    k.sigma = o_.noise;
    return k;
  }
  [[nodiscard]] Variation variation(Round, const ConvexSet& set) const {
    const double swing = 4 * std::pow(set.max_norm(1), 2);  // |2x|² at the ends of X
    return {0.0, swing, 0.0, o_.mu * o_.mu * swing};
  }

 private:
  [[nodiscard]] bool paper() const { return o_.variant == OscillationVariant::paper; }
  [[nodiscard]] double width() const { return paper() ? 1.0 : o_.a; }

  Options o_;
  S sign_ = S(-1);
  double xi_[2] = {0, 0}, zeta_[2] = {0, 0};
};

}  // namespace obolus
