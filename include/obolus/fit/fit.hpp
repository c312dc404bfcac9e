// A linear model of a stream whose hyperparameters follow the stream. Rows are predicted, then learnt:
//     Fit fit({});
//     for (…) { const Prediction& p = fit.learn(row); … }
// docs/fit.md describes the learner, src/fit/learner/learner.hpp has its equations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/data/rows.hpp"
#include "obolus/fit/options.hpp"

namespace obolus {

struct Prediction {
  std::int32_t best = -1;             // the most probable class; −1: none is known yet
  std::vector<double> probabilities;  // by class
  double number = 0;                  // of a numeric target
  bool informed = true;               // the number: by at least one label
  std::size_t features = 0;           // of the row, that the model knows

  std::int32_t truth = -1;  // class of the row, even one that is new; −1: the row has no label
  double truth_number = 0;
  double truth_probability = 0;  // a new class counts as one row of all rows so far
};

struct FitHyperparameter {
  std::string name;
  double value = 0;
  bool tuned = false;
  double at_bound = 0;  // share of the rounds that ended at a bound of it
};

// The tuned hyperparameters in a round, in the order of Fit::hyperparameters().
struct FitPathPoint {
  std::int64_t round = 0;
  std::vector<double> values;
};

class Fit {
 public:
  // The task must not be `automatic`: see fit_task(). Throws ConfigError.
  explicit Fit(const FitOptions& options);
  Fit(Fit&&) noexcept;
  Fit& operator=(Fit&&) noexcept;
  ~Fit();

  // The names of the groups of features, in the reader's order; `columns`: features whose key is their group's number
  // are numeric columns. To be called before the first row, whenever there are more, and for another reader, whose
  // order may differ.
  void set_groups(std::span<const std::string> names, bool columns);

  // The column that the labels stand in, if it has a name: models keep it.
  void set_label_name(std::string name);
  [[nodiscard]] const std::string& label_name() const;
  // Whether the rows' columns had kinds (RowReader::has_kinds); whoever goes on from a checkpoint knows it.
  void set_has_kinds(bool has);
  [[nodiscard]] bool has_kinds() const;

  // Throws the DataError that learn() would throw for the row's label, weight or values.
  void require_learnable(const DataRow& row) const;
  // The prediction from before the row was learnt. A row without a label is only predicted. Throws DataError for a
  // bad label or value.
  const Prediction& learn(const DataRow& row);
  // As if it were the next row, but that the row itself does not count for the scale of its columns, and that a model
  // from a file knows no last label. The row's own label is not looked at.
  const Prediction& predict(const DataRow& row);
  // From now on these rows judge the hyperparameters, `batch` of them per round and in turn, and the rows that are
  // learnt do not. Their groups are those of set_groups() so far; the rows to be learnt need a call of their own.
  void set_validation(std::span<const DataRow> rows);
  // From now on what is tuned follows this path, each point holding until the next, and no slope moves it. Throws
  // DataError if the path's values are not of what is tuned here.
  void follow(std::vector<FitPathPoint> path);
  // Learns the rows that still wait for a full batch; for the end of a stream.
  void finish();

  [[nodiscard]] const FitOptions& options() const;
  [[nodiscard]] const std::vector<std::string>& classes() const;
  [[nodiscard]] std::int64_t features() const;
  [[nodiscard]] std::int64_t rows() const;  // learnt or waiting
  [[nodiscard]] std::int64_t rounds() const;
  [[nodiscard]] double outer_loss() const;  // f of the last round; not finite: the model diverged
  [[nodiscard]] std::vector<FitHyperparameter> hyperparameters() const;

  // The smallest, the median and the largest L2 of the features, where each has its own and there are any.
  struct Penalties {
    double min = 0, middle = 0, max = 0;
    bool operator==(const Penalties&) const = default;
  };
  [[nodiscard]] std::optional<Penalties> penalties() const;

  // What numbers are predicted by: a weighted mean of these, unless told otherwise (FitOptions::blend).
  struct Shares {
    double model = 1, last_label = 0, mean_label = 0;
  };
  [[nodiscard]] std::optional<Shares> shares() const;

  // A weight as it stands, of which feature and for which output.
  struct Weight {
    std::uint64_t key = 0;
    std::int32_t group = 0, output = 0;
    double value = 0;
  };
  [[nodiscard]] std::vector<Weight> top_weights(std::size_t count) const;
  [[nodiscard]] std::vector<double> constants() const;  // one per output
  [[nodiscard]] const std::vector<std::string>& groups() const;
  [[nodiscard]] std::vector<std::string> columns(bool numbers) const;  // numeric ones, or those of categories

  void fields(Archive& a);        // everything: training continues to the same bits
  void model_fields(Archive& a);  // what predictions need
 private:
  friend Fit copy_of(Fit& fit);
  friend class FitReader;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Goes on to the same bits. For a while it takes the memory of two more.
[[nodiscard]] Fit copy_of(Fit& fit);

// Predicts by a fit that stands still, as many threads may at once, each by a reader of its own: the fit is not written
// to. Between two rows it may learn, or become another one.
class FitReader {
 public:
  FitReader();
  FitReader(FitReader&&) noexcept;
  FitReader& operator=(FitReader&&) noexcept;
  ~FitReader();

  // To the same bits as Fit::predict() after set_groups(groups, columns), but that a name the fit does not know stays
  // unknown to it. Valid until the next call. Throws DataError for a bad value or weight.
  const Prediction& predict(const Fit& fit, const DataRow& row, std::span<const std::string> groups,
                            bool columns = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// By the labels of some rows: numbers, if all labels are, and one is not whole or there are more than a hundred
// different ones.
[[nodiscard]] FitTask fit_task(std::span<const std::string> labels);

}  // namespace obolus
