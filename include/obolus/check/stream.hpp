// That rounds replay, and that samples are fair.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "obolus/check/gradients.hpp"
#include "obolus/check/place.hpp"
#include "obolus/check/report.hpp"
#include "obolus/core/capabilities.hpp"
#include "obolus/core/oracle.hpp"

namespace obolus::checks {

// Every number that the current functions return at one place.
template <FirstOrderOracle P>
[[nodiscard]] Vector<double> fingerprint(P& p, const Place<ScalarOf<P>>& place) {
  using S = ScalarOf<P>;
  const Dims dims = p.dims();
  const bool closed_form = capabilities_of(p).closed_form;
  Vector<double> all(2 + 2 * (dims.x + dims.y) + (closed_form ? dims.y : 0));
  all(0) = p.outer_value(place.x, place.y);
  all(1) = p.inner_value(place.x, place.y);
  Index at = 2;
  for (const Gradient<P>& g : gradients<P>) {
    Vector<S> part(g.in_x ? dims.x : dims.y);
    g.ask(p, place.x, place.y, part);
    all.segment(at, part.size()) = part.template cast<double>();
    at += part.size();
  }
  if constexpr (ClosedFormOracle<P>) {
    if (closed_form) {
      Vector<S> solution(dims.y);
      p.inner_solution(place.x, solution);
      all.segment(at, dims.y) = solution.template cast<double>();
    }
  }
  return all;
}

// Visits the rounds forwards, then backwards, then each twice in a row.
template <FirstOrderOracle P>
  requires Stream<P>
void check_replay(CheckReport& report, P& p, const CheckOptions& options, Rng rng) {
  using S = ScalarOf<P>;
  Place<S> place;
  place.x = random_x<S>(p.dims(), options, rng);
  place.y = random_near<S>(options.y, p.dims().y, options.radius, rng);
  const auto seen = [&](Round t) {
    p.reveal(t);
    return fingerprint(p, place);
  };
  std::vector<Vector<double>> first;
  for (const Round t : options.rounds) first.push_back(seen(t));
  for (std::size_t i = options.rounds.size(); i-- > 0;) {
    const Round t = options.rounds[i];
    const bool again = same_bits(seen(t), first[i]), twice = same_bits(seen(t), first[i]);
    report.record("a round revealed again, in another order, has the same bits", again && twice ? 0.0 : 1.0, 0.0,
                  "round " + std::to_string(t));
  }
}

// <r, gradient> over many draws, for one random direction r: its mean and the deviation of that mean.
struct SampleMean {
  double mean = 0.0, squares = 0.0, count = 0.0;
  void include(double value) {
    count += 1.0;
    const double gap = value - mean;
    mean += gap / count;
    squares += gap * (value - mean);
  }
  [[nodiscard]] double deviation() const { return std::sqrt(squares / (count * (count - 1.0))); }
};

inline constexpr SampleSizes check_sizes{.outer = 2, .inner = 3};

// The mean over draws is the expected gradient: within five standard errors, which a correct oracle misses for one seed
// in 1.7 million. The mean itself is summed from numbers rounded to S.
template <StochasticOracle P>
void check_sample_means(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options,
                        Rng& rng) {
  using S = ScalarOf<P>;
  std::array<Vector<S>, 4> expected, along;
  std::array<SampleMean, 4> means;
  const auto size = [&](std::size_t i) { return gradients<P>[i].in_x ? place.x.size() : place.y.size(); };
  for (std::size_t i = 0; i < 4; ++i) {
    expected[i].resize(size(i));
    along[i] = unit_direction<S>(size(i), rng);
    gradients<P>[i].ask(p, place.x, place.y, expected[i]);
  }
  Vector<S> sampled;
  for (int n = 0; n < options.draws; ++n) {
    p.resample(check_sizes, rng);
    for (std::size_t i = 0; i < 4; ++i) {
      sampled.resize(size(i));
      gradients<P>[i].ask(p, place.x, place.y, sampled);
      means[i].include(inner_product<S>(along[i], sampled));
    }
  }
  p.expectation();
  for (std::size_t i = 0; i < 4; ++i) {
    const double error = std::abs(means[i].mean - inner_product<S>(along[i], expected[i]));
    const double rounded = rounding<S>(size(i)) * euclidean_norm<S>(expected[i]);
    report.record("the mean of sampled " + std::string(gradients<P>[i].name) + " is the expected one", error,
                  options.slack * (5.0 * means[i].deviation() + rounded), place.name);
  }
}

// Samples depend on the generator only, last until the next draw, and end with `expectation`.
template <StochasticOracle P>
void check_sampling(CheckReport& report, P& p, const Place<ScalarOf<P>>& place, const CheckOptions& options, Rng& rng) {
  const Vector<double> exact = fingerprint(p, place);
  const Rng start = rng.child("draws");
  Rng once = start, other = rng.child("other draws"), again = start;
  p.resample(check_sizes, once);
  const Vector<double> first = fingerprint(p, place);
  const bool holds = same_bits(fingerprint(p, place), first);
  report.record("a sample holds until the next draw", holds ? 0.0 : 1.0, 0.0, place.name);
  p.resample(check_sizes, other);
  p.resample(check_sizes, again);
  const bool same = same_bits(fingerprint(p, place), first) && once == again;
  report.record("the same generator gives the same sample", same ? 0.0 : 1.0, 0.0, place.name);
  p.expectation();
  const bool restored = same_bits(fingerprint(p, place), exact);
  report.record("expectation() brings the expected functions back", restored ? 0.0 : 1.0, 0.0, place.name);
  check_sample_means(report, p, place, options, rng);
}

// After `reveal` the functions are the expected ones, whatever was sampled before.
template <StochasticOracle P>
  requires Stream<P>
void check_reveal_ends_sampling(CheckReport& report, P& p, const CheckOptions& options, Rng rng) {
  using S = ScalarOf<P>;
  const Round t = options.rounds.front();
  Place<S> place;
  place.x = random_x<S>(p.dims(), options, rng);
  place.y = random_near<S>(options.y, p.dims().y, options.radius, rng);
  p.reveal(t);
  const Vector<double> exact = fingerprint(p, place);
  p.resample(check_sizes, rng);
  p.reveal(t);
  report.record("reveal() brings the expected functions back", same_bits(fingerprint(p, place), exact) ? 0.0 : 1.0, 0.0,
                "round " + std::to_string(t));
  p.expectation();
}

}  // namespace obolus::checks
