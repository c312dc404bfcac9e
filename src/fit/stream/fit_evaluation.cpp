#include "fit/stream/fit_evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "config/comma_list.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {
namespace {

NamedNumbers numbers(const ClassMetrics& m) {
  return {{"log_loss", m.log_loss()},
          {"accuracy", m.accuracy()},
          {"balanced_accuracy", m.balanced_accuracy()},
          {"macro_f1", m.macro_f1()},
          {"kappa", m.kappa()}};
}
NamedNumbers numbers(const ErrorMetrics& m) {
  return {
      {"squared_error", m.squared_error()}, {"absolute_error", m.absolute_error()}, {"median_error", m.median_error()}};
}

}  // namespace

FitEvaluation::FitEvaluation(bool classes, const EvaluationOptions& o)
    : classes_(classes), class_window_(classes ? o.window : 1), error_window_(classes ? 1 : o.window) {
  for (const std::string& word : config::comma_list(o.detectors)) {
    if (word == "adwin") adwin_wanted_ = true;
    else if (word == "page-hinkley") page_hinkley_wanted_ = true;
    else if (word != "none" || o.detectors != "none")
      throw ConfigError("detectors: got '" + word +
                        "', expected adwin, page-hinkley, both with a comma between, or none");
  }
}

std::string_view FitEvaluation::add(const Prediction& p, double weight) {
  ++rows_;
  if (classes_) {
    auto row = JudgedClass::of(p.truth, p.best, p.truth_probability, weight);
    if (p.best >= 0) row.confidence = p.probabilities[to_size(p.best)];
    class_.add(row);
    class_window_.add(row);
    return detect(p.best == p.truth ? 0.0 : 1.0);
  }
  if (!p.informed) return {};  // it would count for more than all others together
  const JudgedNumber row{p.truth_number, p.number, weight};
  error_.add(row);
  error_window_.add(row);
  // In [0, 1) whatever the unit: the error relative to the usual one.
  const double error = std::abs(p.number - p.truth_number);
  usual_error_ += (error - usual_error_) / static_cast<double>(std::min<std::int64_t>(rows_, 1000));
  return detect(error > 0 ? error / (error + usual_error_) : 0.0);
}

std::string_view FitEvaluation::detect(double error) {
  const bool by_adwin = adwin_wanted_ && adwin_.add(error);
  const bool by_page_hinkley = page_hinkley_wanted_ && page_hinkley_.add(error);
  alarms_ += by_adwin || by_page_hinkley ? 1 : 0;
  return by_adwin ? "adwin" : by_page_hinkley ? "page-hinkley" : "";
}

NamedNumbers FitEvaluation::all() const { return classes_ ? numbers(class_) : numbers(error_); }
NamedNumbers FitEvaluation::last() const {
  return classes_ ? numbers(class_window_.metrics()) : numbers(error_window_.metrics());
}

LastWindow FitEvaluation::last_window(std::size_t classes) const {
  LastWindow last;
  if (classes_) {
    last.rows = class_window_.filled();
    last.calibration_of = classes == 2 ? CalibrationOf::second_class : CalibrationOf::predicted_class;
    last.calibration = Calibration::of(class_window_, last.calibration_of);
    last.confusion = Confusion::of(class_window_);
    return last;
  }
  constexpr std::int64_t max_pairs = 500;
  last.rows = error_window_.filled();
  const std::int64_t every = (last.rows + max_pairs - 1) / max_pairs;
  std::int64_t after = last.rows;  // so many are newer; the newest is taken
  error_window_.each([&](const JudgedNumber& row) {
    if (--after % every == 0) last.pairs.emplace_back(row.truth, row.predicted);
  });
  return last;
}

double FitEvaluation::mean_loss() const { return classes_ ? class_.log_loss() : error_.squared_error(); }
double FitEvaluation::weight() const { return classes_ ? class_.weight() : error_.weight(); }

void FitEvaluation::fields(Archive& a) {
  a("class", class_);
  a("class_window", class_window_);
  a("error", error_);
  a("error_window", error_window_);
  a("adwin", adwin_);
  a("page_hinkley", page_hinkley_);
  a("usual_error", usual_error_);
  a("rows", rows_);
  a("alarms", alarms_);
}

}  // namespace obolus::fit
