// Checks any problem: every gradient, product and difference against its definition, the inner problem's curvature,
// closed form and hypergradient, that rounds replay, and that samples are fair.
//
//     MyProblem problem(…);
//     const CheckReport report = check_oracle(problem);
//     for (const Finding& f : report.findings) if (!f.ok) …
//
// The problem ends on the last round checked, with its expected functions. For fused primitives: check/primitives.hpp.
#pragma once

#include <type_traits>
#include <utility>

#include "obolus/check/gradients.hpp"
#include "obolus/check/inner_problem.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/products.hpp"
#include "obolus/check/report.hpp"
#include "obolus/check/stream.hpp"
#include "obolus/core/virtual_oracle.hpp"

namespace obolus {

namespace checks {

template <class S>
void check_second_order(CheckReport& report, VirtualOracle<S>& p, const Place<S>& place, const CheckOptions& options,
                        Rng& rng) {
  const Capabilities can = p.capabilities();
  if (can.hvp) {
    check_products(report, p, place, options, rng);
    check_symmetry(report, p, place, options, rng);
  }
  if (can.difference) check_differences(report, p, place, options, rng);
}

// Products and differences belong to the same sample as the gradients.
template <class S>
void check_samples(CheckReport& report, VirtualOracle<S>& p, const Place<S>& place, const CheckOptions& options,
                   Rng& rng) {
  check_sampling(report, p, place, options, rng);
  Place<S> sampled = place;
  sampled.name += ", sampled";
  p.resample(check_sizes, rng);
  check_second_order(report, p, sampled, options, rng);
  p.expectation();
}

template <class S>
[[nodiscard]] CheckReport check_all(VirtualOracle<S>& p, const CheckOptions& options, const Rng& rng) {
  CheckReport report;
  const Capabilities can = p.capabilities();
  if (p.is_stream()) {
    check_replay(report, p, options, rng.child("replay"));
    if (can.stochastic) check_reveal_ends_sampling(report, p, options, rng.child("reveal"));
  }
  at_places(p, options, rng, [&](const Place<S>& place, Rng& own) {
    check_gradients(report, p, place, options, own);
    check_second_order(report, p, place, options, own);
    if (can.convex) {  // otherwise there is no inner solution to speak of
      const Curvature curvature = check_curvature(report, p, place, options, own);
      if (can.closed_form) check_closed_form(report, p, place, options, curvature.max);
      check_hypergradient(report, p, place, options, curvature.condition(), own);
    }
    if (can.stochastic) check_samples(report, p, place, options, own);
  });
  return report;
}

}  // namespace checks

template <FirstOrderOracle P>
[[nodiscard]] CheckReport check_oracle(P& p, const CheckOptions& options = {}, const Rng& rng = Rng(1)) {
  using S = ScalarOf<P>;
  if constexpr (std::is_base_of_v<VirtualOracle<S>, P>) {
    return checks::check_all<S>(p, options, rng);
  } else {
    Forwarding<VirtualOracle<S>, P&> virtual_calls(std::in_place, p);
    return checks::check_all<S>(virtual_calls, options, rng);
  }
}

}  // namespace obolus
