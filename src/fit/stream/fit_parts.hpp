// What a Fit is made of: the tables that turn names and columns into numbers, and the learner of these.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "fit/learner/learner.hpp"
#include "fit/learner/tuning.hpp"
#include "fit/model/blend.hpp"
#include "fit/model/class_names.hpp"
#include "fit/model/columns.hpp"
#include "fit/model/feature_table.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus {

struct Fit::Parts {
  static constexpr int max_groups = 16;  // with an L2 of their own; the others share the last

  explicit Parts(const FitOptions& o);

  // `learning`: new features and columns are added.
  void featurise(const DataRow& row, bool learning, fit::LearnerRow& out);
  void require_sound(const DataRow& row) const;  // a row that is refused leaves no trace
  void require_sound() const;                    // what was loaded
  void table_fields(Archive& a);
  void sort_by_group(fit::LearnerRow& out, bool learning);
  void set_label(const DataRow& row, fit::LearnerRow& out);
  void set_prediction(std::size_t features, std::span<const float> logits);
  void set_truth(const DataRow& row, std::int32_t label);
  void queue(fit::LearnerRow&& row);  // for the next round
  void train_when_full();
  [[nodiscard]] bool classifies() const { return options.task == FitTask::classes; }

  FitOptions options;
  fit::ClassNames names;
  fit::Columns columns;
  bool has_columns = false;
  fit::FeatureTable table;
  fit::Tuning tuning;
  fit::Learner<float> learner;
  fit::Blend blend;  // of numbers
  fit::Blend::Guess guess;
  std::deque<fit::LearnerRow> delayed;
  std::deque<fit::Blend::Guess> guesses;    // of the delayed rows, if they are numbers
  std::vector<fit::LearnerRow> validation;  // outer rows that come round again and again, if any
  std::int64_t next_validation = 0;
  std::int64_t rows = 0;
  Prediction prediction;
  fit::LearnerRow row_;
  std::vector<std::int32_t> group_;  // of every entry
};

}  // namespace obolus
