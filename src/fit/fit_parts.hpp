// What a Fit is made of: names and columns to numbers, and the learner of these.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "fit/class_names.hpp"
#include "fit/columns.hpp"
#include "fit/feature_table.hpp"
#include "fit/learner.hpp"
#include "fit/tuning.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus {

struct Fit::Parts {
  static constexpr int max_groups = 16;  // with an L2 of their own; the others share the last

  explicit Parts(const FitOptions& o);

  // `learning`: new features and columns are taken up.
  void featurise(const DataRow& row, bool learning, fit::LearnerRow& out);
  void require_sound(const DataRow& row) const;  // a row that is refused leaves no trace
  void require_sound() const;                    // what was loaded
  void sort_by_group(fit::LearnerRow& out, bool learning);
  void label(const DataRow& row, fit::LearnerRow& out);
  void predict(std::size_t features, std::span<const float> logits);
  void judge(const DataRow& row, std::int32_t label);
  void learn(fit::LearnerRow&& row);
  void train_when_full();
  [[nodiscard]] bool classifies() const { return options.task == FitTask::classes; }

  FitOptions options;
  fit::ClassNames names;
  fit::Columns columns;
  bool has_columns = false;
  fit::FeatureTable table;
  fit::Tuning tuning;
  fit::Learner<float> learner;
  std::deque<fit::LearnerRow> delayed;
  std::vector<fit::LearnerRow> judges;  // rows of their own for judging, if any
  std::int64_t next_judge = 0;
  std::int64_t rows = 0;
  Prediction prediction;
  fit::LearnerRow row_;
  std::vector<std::int32_t> group_;  // of every entry
};

}  // namespace obolus
