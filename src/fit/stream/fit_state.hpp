// Where a run of `obolus fit` stands: what goes on from row to row, and so what a checkpoint holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fit/stream/fit_evaluation.hpp"
#include "fit/stream/prediction_file.hpp"
#include "fit/stream/rows_digest.hpp"
#include "fit/stream/shadows.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

struct FitState {
  FitState(const FitOptions& options, const EvaluationOptions& evaluation_options)
      : fit(options), evaluation(options.task == FitTask::classes, evaluation_options) {
    if (evaluation_options.shadow) shadows.emplace(options, evaluation_options);
  }

  Fit fit;
  FitEvaluation evaluation;
  std::optional<Shadows> shadows;
  std::int64_t rows = 0, traced = 0;  // learnt; the last round in the trace
  std::uint64_t bad_labels = 0;
  std::string first_bad, alarm;
  double learning = 0, spent = 0;  // seconds: in learning; in the run, before it was resumed

  // With how far its files have come.
  void fields(Archive& a, std::uint64_t& trace_bytes, PredictionFile& predictions, RowsRead& read) {
    a("trace_bytes", trace_bytes);
    a("predictions", predictions);
    read.fields(a);
    a("learnt", rows);
    a("traced", traced);
    a("bad_labels", bad_labels);
    a("first_bad", first_bad);
    a("alarm", alarm);
    a("learning", learning);
    a("spent", spent);
    a("fit", fit);
    a("evaluation", evaluation);
    if (shadows) a("shadows", *shadows);
  }
};

}  // namespace obolus::fit
