#include "fit/model/feature_decay.hpp"

#include <algorithm>
#include <cmath>

#include "fit/model/saved_vectors.hpp"

namespace obolus::fit {

// Of what was pending in equal parts over so many rounds.
double FeatureDecay::kept_after(double memory, std::int64_t rounds) {
  if (rounds <= 1 || !(memory < 1)) return 1;
  const auto n = static_cast<double>(rounds);
  return (1 - std::pow(memory, n)) / (n * (1 - memory));
}

void FeatureDecay::fill(KeptTable& table, double memory) {
  table.memory = memory;
  table.by_rounds.clear();
  for (std::int64_t n = 0; n < soon; ++n) table.by_rounds.push_back(kept_after(memory, n));
}

void FeatureDecay::derivative_fields(Archive& a) { saved_list(a, "moved", derivatives_, max_derivatives); }

void FeatureDecay::clock_fields(Archive& a) {
  if (!in_use_) return;
  a("clock", clock_);
  a("rounds", rounds_);
  saved(a, "paces", feature_);
}

bool FeatureDecay::is_sound(std::int64_t slots, int parts) const {
  const auto good = [&](const Feature& f) {
    return f.ratio > 0 && std::isfinite(f.ratio) && f.carried >= 0 && f.since <= clock_ && f.applied >= 0 &&
           f.applied <= rounds_;
  };
  const auto has_part = [&](const DecayDerivative& d) { return d.part >= 1 && d.part < parts; };
  return feature_.size() == (in_use_ ? to_size(slots) : 0) && std::ranges::all_of(feature_, good) &&
         std::ranges::all_of(derivatives_, has_part);
}

std::vector<float> FeatureDecay::ratios() const {
  std::vector<float> all;
  for (const Feature& f : feature_) all.push_back(f.ratio);
  return all;
}

void FeatureDecay::set_ratios(const std::vector<float>& ratios) {
  for (std::size_t i = 0; i < ratios.size(); ++i) feature_[i].ratio = ratios[i];
}

}  // namespace obolus::fit
