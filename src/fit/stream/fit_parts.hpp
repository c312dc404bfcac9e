// What a Fit is made of: the tables that turn names and columns into numbers, and the learner of these.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
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

  // What predicting a row works with, and what comes out.
  struct Scratch {
    fit::LearnerRow row;
    std::vector<std::int32_t> group;  // of every entry
    std::vector<fit::Entry> sorted;
    fit::Learner<float>::Scratch learner;
    fit::Blend::Guess guess;
    Prediction prediction;
  };

  explicit Parts(const FitOptions& o);

  static void require_sound(const DataRow& row);  // but for its label
  void require_label(const DataRow& row) const;
  void require_sound() const;  // what was loaded
  void table_fields(Archive& a);

  // Its new features are added.
  void featurise(const DataRow& row, fit::LearnerRow& out);
  // Writes nothing but the scratch. `known`: the columns of the row's groups; `numeric`: features whose key is their
  // group's number are numbers.
  void predict(const DataRow& row, std::span<const fit::KnownColumn> known, bool numeric, Scratch& to) const;

  void set_label(const DataRow& row, fit::LearnerRow& out);
  void set_prediction(std::size_t features, std::span<const float> logits, Scratch& to) const;
  void set_truth(const DataRow& row, std::int32_t label);
  void queue(fit::LearnerRow&& row);  // for the next round
  void train_when_full();
  [[nodiscard]] bool classifies() const { return options.task == FitTask::classes; }

  FitOptions options;
  std::string label_name;
  bool has_kinds = false;
  fit::ClassNames names;
  fit::Columns columns;
  bool has_columns = false;
  fit::FeatureTable table;
  fit::Tuning tuning;
  fit::Learner<float> learner;
  fit::Blend blend;  // of numbers
  std::deque<fit::LearnerRow> delayed;
  std::deque<fit::Blend::Guess> guesses;    // of the delayed rows, if they are numbers
  std::vector<fit::LearnerRow> validation;  // outer rows that come round again and again, if any
  std::int64_t next_validation = 0;
  std::int64_t rows = 0;
  Scratch scratch;  // with the latest row's prediction

 private:
  // Self is const where nothing is learnt.
  template <class Self>
  static void set_entries(Self& self, const DataRow& row, std::span<const fit::KnownColumn> known, bool numeric,
                          Scratch& scratch, fit::LearnerRow& out);
  template <class Self>
  static void sort_by_group(Self& self, Scratch& scratch, fit::LearnerRow& out);
};

}  // namespace obolus
