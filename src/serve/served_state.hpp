// What a served model is at a moment: after so many rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "fit/stream/fit_evaluation.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/fit/fit.hpp"
#include "serve/row_batch.hpp"

namespace obolus::serve {

struct ServedState {
  ServedState(Fit f, fit::FitEvaluation e, std::int64_t r) : fit(std::move(f)), evaluation(std::move(e)), rows(r) {}

  Fit fit;
  fit::FitEvaluation evaluation;
  std::int64_t rows;
  std::string alarm = {};  // of the last row that raised one

  // Adds a prediction per row to `answer`, if there is one. Throws DataError if the rows make the model diverge or
  // overflow: the state is spoilt then.
  void learn(const RowBatch& batch, std::string* answer);
  void fields(Archive& a);  // loading wants a fit that has learnt nothing
};

[[nodiscard]] ServedState copy_of(ServedState& state);

// Throws DataError for rows that would be refused, or that bring too many classes at once; nothing changes.
void require_learnable(const RowBatch& batch, const Fit& fit);
// Throws Refusal where the answer would be too large.
void require_answerable(const RowBatch& batch, const Fit& fit);

// {"prediction":…,"probabilities":{…},"id":…}
void append_prediction(std::string& answer, const Prediction& prediction, const Fit& fit, std::string_view id);

}  // namespace obolus::serve
