// A prediction as a line: the class or the number, the probability of every class if asked for, and the row's tag if
// it has one.
#pragma once

#include <string>

#include "data/append_format.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

// Columns are separated by tabs. Readers make sure that no class has a tab or a line break in its name.
inline void format_prediction(const Prediction& p, const Fit& fit, const std::string& tag, bool probabilities,
                              std::string& line) {
  line.clear();
  if (fit.options().task == FitTask::numbers) append_format(line, "{}", p.number);
  else line += p.best >= 0 ? fit.classes()[to_size(p.best)] : "?";
  for (std::size_t c = 0; probabilities && c < p.probabilities.size(); ++c)
    append_format(line, "\t{:.6g}", p.probabilities[c]);
  if (!tag.empty()) (line += '\t') += tag;
  line += '\n';
}

}  // namespace obolus::fit
