// Runs that make one curve, and its label.
#pragma once

#include <string>
#include <vector>

#include "report/series.hpp"

namespace obolus {

struct CurveGroup {
  std::string label, name;  // in the figure; before clashes were resolved
  std::vector<const Series*> seeds;

  [[nodiscard]] const std::string& stream() const { return seeds.front()->stream; }
};

// Runs that differ only by their seed are one curve. If two curves of a stream would have the same label, a run is
// named by its folder, and a comparison's optimiser by its folder and label.
[[nodiscard]] std::vector<CurveGroup> curve_groups(const std::vector<Series>& series);

// Those with one of these labels; throws ConfigError for an unknown one.
[[nodiscard]] std::vector<CurveGroup> only(std::vector<CurveGroup> groups, const std::vector<std::string>& labels);

// One line per curve whose seeds end at different rounds.
[[nodiscard]] std::vector<std::string> unequal_lengths(const std::vector<CurveGroup>& groups);

}  // namespace obolus
