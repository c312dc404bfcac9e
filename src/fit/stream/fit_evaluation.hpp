// How good a fit is, row by row: prequential metrics over all rows and over the last ones, and detectors of drift in
// its errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/options.hpp"
#include "obolus/fit/fit.hpp"
#include "obolus/metrics/calibration.hpp"
#include "obolus/metrics/class_metrics.hpp"
#include "obolus/metrics/confusion.hpp"
#include "obolus/metrics/drift_detectors.hpp"
#include "obolus/metrics/error_metrics.hpp"

namespace obolus::fit {

struct EvaluationOptions {
  std::int64_t window = 1000;
  std::string detectors = "adwin,page-hinkley";
  bool shadow = false;

  template <class V>
  void describe(V&& v) {
    v("window", window, "number of latest rows in the windowed metrics", Range::between(1, 1e8));
    v("detectors", detectors, "drift detectors on the errors: adwin, page-hinkley, separated by a comma; or none");
    v("shadow", shadow,
      "learn four more times with nothing tuned and the learning rate at 0.01, 0.1, 1 and 10, and say what each would "
      "have given");
  }
};

using NamedNumbers = std::vector<std::pair<std::string_view, double>>;

// The rows of the window, more closely than by a few numbers: of classes a calibration and a confusion, of numbers some
// pairs of truth and prediction.
struct LastWindow {
  std::int64_t rows = 0;
  CalibrationOf calibration_of = CalibrationOf::predicted_class;
  Calibration calibration;
  Confusion confusion;
  std::vector<std::pair<double, double>> pairs;  // at most 500, evenly spaced
};

class FitEvaluation {
 public:
  FitEvaluation(bool classes, const EvaluationOptions& options);

  // The name of a detector that reports a change of the errors, or nothing.
  std::string_view add(const Prediction& prediction, double weight);

  [[nodiscard]] NamedNumbers all() const;
  [[nodiscard]] NamedNumbers last() const;                             // over the window
  [[nodiscard]] LastWindow last_window(std::size_t classes) const;     // of so many classes
  [[nodiscard]] double mean_loss() const;                              // log-loss, or squared error
  [[nodiscard]] double accuracy() const { return class_.accuracy(); }  // of classes
  [[nodiscard]] double weight() const;
  [[nodiscard]] std::int64_t alarms() const { return alarms_; }

  void fields(Archive& a);

 private:
  std::string_view detect(double error);

  bool classes_, adwin_wanted_ = false, page_hinkley_wanted_ = false;
  ClassMetrics class_;
  WindowedClassMetrics class_window_;
  ErrorMetrics error_;
  WindowedErrorMetrics error_window_;
  Adwin adwin_;
  PageHinkley page_hinkley_;
  double usual_error_ = 0;
  std::int64_t rows_ = 0, alarms_ = 0;
};

}  // namespace obolus::fit
