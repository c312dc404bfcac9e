// The figure of folders of runs and comparisons, from their files alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/figure.hpp"
#include "report/pooled.hpp"

namespace obolus {

struct PlotOptions {
  std::vector<std::string> folders;
  std::vector<std::string> measures;  // empty: the regret if there is one, f, and up to two evaluations
  std::vector<std::string> only;      // labels; empty: all
  std::string stream, setting = "best", title;
  Abscissa x = Abscissa::rounds;
  bool log_x = false;
  std::optional<bool> log_y;  // unset: by the measure
  double width_mm = 170;
};

struct Plot {
  Figure figure;
  std::vector<std::string> remarks;  // for the user: which settings were drawn, which runs are shorter than others
};

// One row of panels per stream (for runs: per problem), one panel per measure, one curve per optimiser, with mean and
// standard deviation over seeds.
[[nodiscard]] Plot plot(const PlotOptions& options);
// The measures in the folders.
[[nodiscard]] std::vector<std::string> measures_of(const PlotOptions& options);

}  // namespace obolus
