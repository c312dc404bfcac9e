// A prediction as a line: the class or the number, then, where asked for, a probability a class, then the row's tag if it has one.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "obolus/core/to_size.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

// Columns are separated by tabs. A class's name has none, and no end of a line: readers see to that.
inline void prediction_text(const Prediction& p, const Fit& fit, const std::string& tag, bool probabilities,
                            std::string& line) {
  line.clear();
  if (fit.options().task == FitTask::numbers) fmt::format_to(std::back_inserter(line), "{}", p.number);
  else line += p.best >= 0 ? fit.classes()[to_size(p.best)] : "?";
  for (std::size_t c = 0; probabilities && c < p.probabilities.size(); ++c)
    fmt::format_to(std::back_inserter(line), "\t{:.6g}", p.probabilities[c]);
  if (!tag.empty()) (line += '\t') += tag;
  line += '\n';
}

}  // namespace obolus::fit
