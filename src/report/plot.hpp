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
  std::vector<std::string> measures;  // none: the regret where there is one, f, and up to two evaluations
  std::vector<std::string> only;      // labels; none: all
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

// A row of panels a stream (for runs: a problem), a panel a measure, a curve an optimiser with mean and deviation over seeds.
[[nodiscard]] Plot plot(const PlotOptions& options);
// The measures that the folders offer.
[[nodiscard]] std::vector<std::string> measures_of(const PlotOptions& options);

}  // namespace obolus
