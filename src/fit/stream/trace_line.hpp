// A round of a fit as a line of its trace. Reports read t, f, seconds, evaluation and x_values as in the trace of a
// run.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include "fit/stream/fit_evaluation.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

struct TracePoint {
  std::int64_t round = 0, rows = 0;
  double seconds = 0;
  std::string alarm;  // empty: none
  bool evaluated = false;
};

inline void format_trace_line(const TracePoint& point, const Fit& fit, const FitEvaluation& evaluation,
                              std::string& line) {
  line.clear();
  const auto out = std::back_inserter(line);
  const auto end_list = [&](char end) {
    if (line.ends_with(',')) line.pop_back();
    line += end;
  };
  fmt::format_to(out, R"({{"t":{},"rows":{},"f":{})", point.round, point.rows, fit.outer_loss());
  if (!point.alarm.empty()) fmt::format_to(out, R"(,"alarm":"{}")", point.alarm);
  fmt::format_to(out, R"(,"seconds":{:.6f})", point.seconds);
  if (point.evaluated) {
    line += R"(,"evaluation":{)";
    for (const auto& [name, value] : evaluation.all())
      if (std::isfinite(value)) fmt::format_to(out, R"("{}":{},)", name, value);
    for (const auto& [name, value] : evaluation.last())
      if (std::isfinite(value)) fmt::format_to(out, R"("window_{}":{},)", name, value);
    end_list('}');
  }
  line += R"(,"x_values":[)";
  for (const FitHyperparameter& h : fit.hyperparameters())
    if (h.tuned) fmt::format_to(out, "{},", h.value);
  end_list(']');
  line += "}\n";
}

}  // namespace obolus::fit
