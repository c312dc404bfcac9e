// What fixed settings would have given: the same learner with a few learning rates that stay, on the same rows, beside
// the one that tunes.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fit/stream/fit_evaluation.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

class Shadows {
 public:
  Shadows(FitOptions options, EvaluationOptions evaluation) {
    options.tune = "none";
    options.hold_out = 0;
    evaluation.detectors = "none";
    for (const double rate : {0.01, 0.1, 1.0, 10.0}) {
      if (options.task == FitTask::numbers && rate > 1.9) continue;  // squares would diverge
      options.learning_rate = rate;
      list_.push_back({rate, Fit(options), FitEvaluation(options.task == FitTask::classes, evaluation)});
    }
  }

  void set_groups(std::span<const std::string> names, bool columns) {
    for (Shadow& s : list_) s.fit.set_groups(names, columns);
  }
  void learn(const DataRow& row) {
    for (Shadow& s : list_) {
      if (s.has_diverged) continue;
      const Prediction& p = s.fit.learn(row);
      s.has_diverged = !std::isfinite(p.number) || (p.truth >= 0 && !std::isfinite(p.truth_probability));
      if (!s.has_diverged && p.truth >= 0) s.evaluation.add(p, row.weight);
    }
  }

  struct Result {
    std::string name;
    NamedNumbers all, window;  // empty: it diverged
  };
  [[nodiscard]] std::vector<Result> results() const {
    std::vector<Result> results;
    for (const Shadow& s : list_) {
      Result r{fmt::format("rate {:g}", s.rate), {}, {}};
      if (!s.has_diverged) r.all = s.evaluation.all();
      if (!s.has_diverged) r.window = s.evaluation.last();
      results.push_back(std::move(r));
    }
    return results;
  }

  void fields(Archive& a) {
    for (Shadow& s : list_) {
      a("has_diverged", s.has_diverged);
      a("fit", s.fit);
      a("evaluation", s.evaluation);
    }
  }

 private:
  struct Shadow {
    double rate;
    Fit fit;
    FitEvaluation evaluation;
    bool has_diverged = false;
  };
  std::vector<Shadow> list_;
};

}  // namespace obolus::fit
