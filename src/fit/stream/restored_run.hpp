// A run of `obolus fit` taken up from its folder by something else than `obolus fit`: it learns further rows one by
// one, to the bits that the run would have come to. The folder stays as it is.
#pragma once

#include <cstdint>
#include <string>

#include "fit/stream/fit_evaluation.hpp"
#include "obolus/data/rows.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

struct RestoredRun {
  EvaluationOptions evaluation_options;
  // As the run was given them. Fit::label_name() is the label's name even where it was given by position.
  RowOptions row_options;
  Fit fit;  // its options are those of the run, with the task settled
  FitEvaluation evaluation;
  std::int64_t rows = 0;  // learnt or predicted
};

// The latest checkpoint of the run in the folder, which is from before the rows that wait for a full batch were learnt.
// Throws ConfigError for a folder of anything else, a run that diverged, or one whose rows are not all that it follows
// (--validation, --follow); DataError for a checkpoint that is damaged.
[[nodiscard]] RestoredRun restore_run(const std::string& folder);

}  // namespace obolus::fit
