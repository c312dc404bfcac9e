#include "serve/served_state.hpp"

#include <cmath>
#include <set>
#include <span>

#include "data/append_format.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "serve/json_text.hpp"
#include "serve/refusal.hpp"

namespace obolus::serve {

void ServedState::learn(const RowBatch& batch, std::string* answer) {
  std::size_t groups = 0;
  for (const RowBatch::Row& r : batch.rows) {
    // A row knows no names of the rows after it: what is learnt does not depend on how rows come together.
    if (r.groups > groups || &r == batch.rows.data())
      fit.set_groups(std::span(batch.groups).first(groups = r.groups), true);
    const Prediction& prediction = fit.learn(r.row);
    if (!std::isfinite(fit.outer_loss()) || !std::isfinite(prediction.number))
      throw DataError("the rows make the model diverge; they were not learnt");
    if (prediction.truth >= 0)
      if (const std::string_view by = evaluation.add(prediction, r.row.weight); !by.empty()) alarm = by;
    ++rows;
    if (!answer) continue;
    append_prediction(*answer, prediction, fit, r.row.tag);
    *answer += ',';
  }
  if (answer && answer->ends_with(',')) answer->pop_back();
}

void ServedState::fields(Archive& a) {
  a("rows", rows);
  a("alarm", alarm);
  a("fit", fit);
  a("evaluation", evaluation);
}

ServedState copy_of(ServedState& state) {
  ServedState copy(obolus::copy_of(state.fit), state.evaluation, state.rows);
  copy.alarm = state.alarm;
  return copy;
}

void require_learnable(const RowBatch& batch, const Fit& fit) {
  constexpr std::size_t max_new = 100;
  const std::set<std::string_view> known(fit.classes().begin(), fit.classes().end());
  std::set<std::string_view> added;
  for (const RowBatch::Row& r : batch.rows) try {
      fit.require_learnable(r.row);
      if (fit.options().task == FitTask::classes && !known.contains(r.row.label)) added.insert(r.row.label);
      if (added.size() > max_new)
        throw DataError(fmt::format("got more than {} classes that are new, expected fewer per request", max_new));
    } catch (const DataError& e) {
      if (batch.rows.size() == 1) throw;
      throw DataError(fmt::format("row {}: {}", &r - batch.rows.data() + 1, e.what()));
    }
}

void require_answerable(const RowBatch& batch, const Fit& fit) {
  constexpr std::size_t max_bytes = std::size_t{1} << 26, per_number = 24;
  std::size_t bytes = 64;
  for (const std::string& name : fit.classes()) bytes += name.size() + per_number;
  if (batch.rows.size() > max_bytes / bytes)
    throw Refusal(413, fmt::format("the answer would have more than {} bytes: send fewer rows per request", max_bytes));
}

void append_prediction(std::string& answer, const Prediction& p, const Fit& fit, std::string_view id) {
  answer += R"({"prediction":)";
  if (fit.options().task == FitTask::numbers) {
    if (p.informed && std::isfinite(p.number)) append_format(answer, "{}", p.number);
    else answer += "null";
  } else {
    if (p.best >= 0) append_json(answer, fit.classes()[to_size(p.best)]);
    else answer += "null";
    answer += R"(,"probabilities":{)";
    for (std::size_t c = 0; c < p.probabilities.size(); ++c) {
      if (c > 0) answer += ',';
      append_json(answer, fit.classes()[c]);
      append_format(answer, ":{}", p.probabilities[c]);
    }
    answer += '}';
  }
  if (!id.empty()) {
    answer += R"(,"id":)";
    append_json(answer, id);
  }
  answer += '}';
}

}  // namespace obolus::serve
