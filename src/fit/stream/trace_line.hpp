// A round of a fit as a line of its trace. Reports read t, f, seconds, evaluation and x_values as in the trace of a
// run.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "data/append_format.hpp"
#include "fit/stream/fit_evaluation.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

// 256 rounds in every octave, whatever the horizon, so that a resumed run has the same ones: a thousand points of each
// metric after 2,048 rounds, one for every pixel or two of a chart.
[[nodiscard]] inline bool is_evaluated(std::int64_t round) {
  const int octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(round))) - 1;
  return octave <= 8 || round % (std::int64_t{1} << (octave - 8)) == 0;
}

struct TracePoint {
  std::int64_t round = 0, rows = 0;
  double seconds = 0;
  std::string alarm;  // empty: none
  bool evaluated = false;
};

inline void format_trace_line(const TracePoint& point, const Fit& fit, const FitEvaluation& evaluation,
                              std::string& line) {
  line.clear();
  const auto end_list = [&](char end) {
    if (line.ends_with(',')) line.pop_back();
    line += end;
  };
  append_format(line, R"({{"t":{},"rows":{},"f":{})", point.round, point.rows, fit.outer_loss());
  if (!point.alarm.empty()) append_format(line, R"(,"alarm":"{}")", point.alarm);
  append_format(line, R"(,"seconds":{:.6f})", point.seconds);
  if (point.evaluated) {
    line += R"(,"evaluation":{)";
    for (const auto& [name, value] : evaluation.all())
      if (std::isfinite(value)) append_format(line, R"("{}":{},)", name, value);
    for (const auto& [name, value] : evaluation.last())
      if (std::isfinite(value)) append_format(line, R"("window_{}":{},)", name, value);
    end_list('}');
  }
  line += R"(,"x_values":[)";
  for (const FitHyperparameter& h : fit.hyperparameters())
    if (h.tuned) append_format(line, "{},", h.value);
  end_list(']');
  line += "}\n";
}

}  // namespace obolus::fit
