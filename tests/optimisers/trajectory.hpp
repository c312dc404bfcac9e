// An optimiser against the slow reference, round by round.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/optimisers/sessions.hpp"
#include "tests/optimisers/slow_reference.hpp"

namespace obolus::test {

// How far two implementations may be apart after t rounds, relative to max(1, the size of the vector).
//
// With u = ε/2, dimensions 4 and 6, |A| ≤ 4, |B| = 1, μ_g = 1 and iterates of size 1, a gradient of g in y adds 4 + 6 +
// 2 terms of size 1, each with an error of u and of either sign: √12 u. A step takes α ≤ 0.2 of it and rounds its
// result: 1.7u. Steps contract by 1 − αμ_g, so that a loop of any length leaves 1.7u/(αμ_g) = 8.5u in y and in z, 12u
// in y − z. The direction multiplies that by λ_t|B| ≤ 5 · 12 for t ≤ 12: 720u, or 360ε. The rounds before add theirs.
// (Seen: 5ε t.)
template <class S>
double tolerance(Round t) {
  return static_cast<double>(t) * 400.0 * static_cast<double>(std::numeric_limits<S>::epsilon());
}
constexpr Round compared_rounds = 12;

template <class S>
void expect_near(const Vector<S>& ours, const Real& theirs, double relative, const char* what) {
  const double scale = std::max(1.0, theirs.cwiseAbs().maxCoeff());
  const double gap = (ours.template cast<double>() - theirs).cwiseAbs().maxCoeff();
  EXPECT_LE(gap, relative * scale) << what << ": ours " << ours.transpose() << ", reference " << theirs.transpose();
}

// Starts outside every set of `slow_sets`, with y_1 = z_1 away from the solutions.
inline Real first_x(Dims dims) { return Real::LinSpaced(dims.x, 0.9, -0.7); }
inline Real first_y(Dims dims) { return Real::LinSpaced(dims.y, -0.5, 0.8); }

template <class Options>
SlowParameters slow_parameters(const Options& o) {
  const auto schedule = [](const Schedule& s) {
    return [s](Round t) {
      const auto time = static_cast<double>(t);
      return s.scale * std::pow(time, s.power) * (s.log ? std::log(time) : 1.0);
    };
  };
  const auto count = [schedule](const Schedule& s) {
    return [value = schedule(s)](Round t) { return std::max<std::int64_t>(1, std::llround(std::ceil(value(t)))); };
  };
  SlowParameters p;
  p.alpha = schedule(o.alpha);
  p.gamma = schedule(o.gamma);
  p.lambda1 = o.lambda1;
  p.tau = o.tau;
  p.warm = o.warm_start == WarmStart::separate ? Warm::separate
           : o.warm_start == WarmStart::tied   ? Warm::tied
                                               : Warm::dual;
  switch (o.beta_rule) {
    case BetaRule::alpha_over_lambda: p.beta = [a = p.alpha](Round t, double lambda) { return a(t) / lambda; }; break;
    case BetaRule::theory:
      p.beta = [L = o.L_g1 ? *o.L_g1 : 1.0 / p.alpha(1)](Round, double lambda) { return 1.0 / (2.0 * lambda * L); };
      break;
    case BetaRule::schedule: p.beta = [b = schedule(o.beta)](Round t, double) { return b(t); }; break;
  }
  p.inner_momentum = o.inner.momentum;
  p.inner_decay = o.inner.weight_decay;
  p.outer_momentum = o.outer.momentum;
  p.outer_decay = o.outer.weight_decay;
  if constexpr (requires { o.inner_steps; }) p.inner_steps = count(o.inner_steps);
  if constexpr (requires { o.delta_y; }) {
    p.delta_y = o.delta_y.scale;
    p.delta_z = o.delta_z.scale;
    p.max_inner = o.max_inner;
  }
  if constexpr (requires { o.batch; }) {
    p.fresh = o.samples == Samples::fresh;
    p.batch = count(o.batch);
    p.outer_batch = count(o.outer_batch);
  }
  return p;
}

// Runs both for `compared_rounds`. `advance` runs a round of the reference and returns false where rounding could
// decide something in it (a tie ends the comparison, and false is returned); `also` sees each round's report.
template <class Optimiser, class P, class Advance, class Also>
bool expect_reference_trajectory(P& ours, P& theirs, const typename Optimiser::Options& options, const SlowSet& set,
                                 Advance&& advance, Also&& also) {
  using S = ScalarOf<P>;
  const Dims dims = ours.dims();
  const Rng rng(77);
  OpenSession<Optimiser, P> session(Optimiser(options, set.set), ours, first_x(dims).cast<S>(),
                                    first_y(dims).cast<S>());
  SlowReference<P> reference(theirs, slow_parameters(options), set, first_x(dims), first_y(dims));
  Vector<S> y(dims.y), z(dims.y);
  expect_near<S>(session.x(), reference.x, tolerance<S>(1), "x_1");
  for (Round t = 1; t <= compared_rounds; ++t) {
    ours.reveal(t);
    const Step step = session.step(rng);
    if (!advance(reference, rng)) return false;
    SCOPED_TRACE("round " + std::to_string(t));
    EXPECT_EQ(step.status, Status::ok);
    EXPECT_NEAR(step.lambda, reference.lambda, 1e-14 * static_cast<double>(t) * reference.lambda);  // t products
    session.read_y(y);
    session.read_z(z);
    expect_near<S>(z, reference.z, tolerance<S>(t), "z");
    expect_near<S>(y, reference.y, tolerance<S>(t), "y");
    expect_near<S>(session.direction(), reference.d, tolerance<S>(t), "d");
    expect_near<S>(session.x(), reference.x, tolerance<S>(t), "x");
    also(step, reference);
    if (testing::Test::HasFailure()) break;  // one message is enough
  }
  return true;
}

// ---- What they are compared on -------------------------------------------------------------------------------------

inline QuadraticOptions small_quadratic(Drift drift, double sine) {
  QuadraticOptions o;
  o.dim_x = 4;
  o.dim_y = 6;
  o.drift = drift;
  o.period = 4;
  o.condition = 4.0;
  o.sine = sine;
  return o;
}

// Every drift with and without the sine.
inline std::vector<std::pair<std::string, QuadraticOptions>> quadratic_streams() {
  std::vector<std::pair<std::string, QuadraticOptions>> streams;
  for (const auto& [drift, name] : EnumNames<Drift>::values)
    for (const double sine : {0.0, 0.7})
      streams.emplace_back("quadratic, " + std::string(name) + (sine > 0 ? ", sine" : ""),
                           small_quadratic(drift, sine));
  return streams;
}

inline std::vector<std::pair<std::string, OscillationOptions>> oscillation_streams() {
  return {{"oscillation, paper", {}}, {"oscillation, interior", {.variant = OscillationVariant::interior}}};
}

// Calls `compare.operator()<Problem>(name, options)` for every stream.
template <class S, class Compare>
void on_every_stream(Compare&& compare) {
  for (const auto& [name, options] : quadratic_streams()) compare.template operator()<Quadratic<S>>(name, options);
  for (const auto& [name, options] : oscillation_streams()) compare.template operator()<Oscillation<S>>(name, options);
}

// Calls `see(name, set, warm_start, beta_rule)` for every combination.
template <class See>
void in_every_way(Index dim_x, See&& see) {
  for (const SlowSet& set : slow_sets(dim_x))
    for (const auto& [warm_start, warm_name] : EnumNames<WarmStart>::values)
      for (const auto& [beta_rule, beta_name] : EnumNames<BetaRule>::values)
        see(set.name + ", " + std::string(warm_name) + ", " + std::string(beta_name), set, warm_start, beta_rule);
}

// Options that every algorithm of the family has. α = 0.2 < 1/|A|; the schedule's β_t is half of α/λ_t.
template <class Options>
Options family_options(WarmStart warm_start, BetaRule beta_rule) {
  Options o;
  o.alpha = 0.2;
  o.gamma = Schedule(0.05, -0.25);
  o.lambda1 = 5.0;
  o.tau = 1.0;
  o.beta_rule = beta_rule;
  o.beta = Schedule(0.02, -1.0);
  o.L_g1 = 4.3;
  o.warm_start = warm_start;
  return o;
}

// The slope of ln(value) over ln(at), by least squares.
inline double fitted_slope(const std::vector<double>& at, const std::vector<double>& value) {
  const Index n = static_cast<Index>(at.size());
  const Eigen::ArrayXd a = Eigen::Map<const Eigen::ArrayXd>(at.data(), n).log();
  const Eigen::ArrayXd v = Eigen::Map<const Eigen::ArrayXd>(value.data(), n).log();
  return ((a - a.mean()) * (v - v.mean())).sum() / (a - a.mean()).square().sum();
}

}  // namespace obolus::test
