// Checks any problem: every gradient, product and difference against its definition, the inner problem's curvature,
// closed form and hypergradient, that rounds replay, and that samples are fair.
//
//     MyProblem problem(…);
//     const CheckReport report = check_oracle(problem);
//     for (const Finding& f : report.findings) if (!f.ok) …
//
// The problem ends on the last round checked, with its expected functions. For fused primitives: check/primitives.hpp.
#pragma once

#include "obolus/check/gradients.hpp"
#include "obolus/check/inner_problem.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/products.hpp"
#include "obolus/check/report.hpp"
#include "obolus/check/stream.hpp"
#include "obolus/core/capabilities.hpp"

namespace obolus {

namespace checks {

template <FirstOrderOracle P>
void check_second_order(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                        Rng& rng) {
  const Capabilities can = capabilities_of(p);
  if constexpr (HvpOracle<P>) {
    if (can.hvp) {
      check_products(report, p, place, options, rng);
      check_symmetry(report, p, place, options, rng);
    }
  }
  if constexpr (DifferenceOracle<P>) {
    if (can.difference) check_differences(report, p, place, options, rng);
  }
}

// Products and differences belong to the same sample as the gradients.
template <StochasticOracle P>
void check_samples(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options, Rng& rng) {
  check_sampling(report, p, place, options, rng);
  Place<ScalarOf<P>> sampled = place;
  sampled.name += ", sampled";
  p.resample(check_sizes, rng);
  check_second_order(report, p, sampled, options, rng);
  p.expectation();
}

}  // namespace checks

template <FirstOrderOracle P>
[[nodiscard]] CheckReport check_oracle(P& p, const CheckOptions& options = {}, const Rng& rng = Rng(1)) {
  using S = ScalarOf<P>;
  CheckReport report;
  const Capabilities can = capabilities_of(p);
  if constexpr (Stream<P>) checks::check_replay(report, p, options, rng.child("replay"));
  if constexpr (Stream<P> && StochasticOracle<P>) {
    if (can.stochastic) checks::check_reveal_ends_sampling(report, p, options, rng.child("reveal"));
  }
  checks::at_places(p, options, rng, [&](const checks::Place<S>& place, Rng& own) {
    checks::check_gradients(report, p, place, options, own);
    checks::check_second_order(report, p, place, options, own);
    if (can.convex) {  // otherwise there is no inner solution to speak of
      const checks::Curvature curvature = checks::check_curvature(report, p, place, options, own);
      if constexpr (ClosedFormOracle<P>) {
        if (can.closed_form) checks::check_closed_form(report, p, place, options, curvature.max);
      }
      checks::check_hypergradient(report, p, place, options, curvature.condition(), own);
    }
    if constexpr (StochasticOracle<P>) {
      if (can.stochastic) checks::check_samples(report, p, place, options, own);
    }
  });
  return report;
}

}  // namespace obolus
