// The figure of a comparison, from the files in its folder alone.
#pragma once

#include <string>
#include <vector>

#include "report/figure.hpp"

namespace obolus {

// A row of panels a stream, a panel a measure, a curve an optimiser: mean ± standard deviation over seeds at the evaluated rounds. A measure is
// "regret" or a name of the evaluations; none given: the regret where there is one, then up to three evaluations that the problem names first.
// Of several settings a curve is the first. Throws DataError where the folder holds no such thing.
[[nodiscard]] Figure comparison_figure(const std::string& folder, std::vector<std::string> measures);

}  // namespace obolus
