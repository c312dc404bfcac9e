// A linear model of a stream whose hyperparameters follow the stream. Rows are judged, then learnt:
//     Fit fit({});
//     for (…) { const Prediction& p = fit.learn(row); … }
// docs/fit.md describes the learner, src/fit/learner.hpp has its equations.
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
  std::int32_t best = -1;             // class; −1: none is known yet
  std::vector<double> probabilities;  // by class
  double number = 0;                  // when numbers are predicted
  std::size_t features = 0;           // of the row that the model knows

  std::int32_t truth = -1;  // class of the row, also if it was not known before; −1: the row has no label
  double truth_number = 0;
  double truth_probability = 0;  // a class that was not known had the chance of one row in all rows so far
};

struct FitHyperparameter {
  std::string name;
  double value = 0;
  bool tuned = false;
};

// Where tuned hyperparameters were in a round, in the order of Fit::hyperparameters().
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

  // Groups of features are known by name, as a reader numbers them; `columns`: features whose key is their group's number are
  // columns of numbers. To be called before the first row, whenever there are more, and for another reader, whose order may differ.
  void set_groups(std::span<const std::string> names, bool columns);

  // The prediction before the row was learnt. A row without a label is predicted only. Throws DataError for a label that is not one.
  const Prediction& learn(const DataRow& row);
  const Prediction& predict(const DataRow& row);
  // From now on these rows judge hyperparameters, `batch` of them a round and in turn, and the rows that are learnt do not. They count
  // with set_groups() as it was; it starts afresh after them.
  void judge_by(std::span<const DataRow> rows);
  // From now on what is tuned goes where it was in these rounds, each holding until the next, and no slope moves it. Throws DataError for
  // values that are not those of what is tuned here.
  void follow(std::vector<FitPathPoint> path);
  // Rows that wait for others are learnt now; for the end of a stream.
  void finish();

  [[nodiscard]] const FitOptions& options() const;
  [[nodiscard]] const std::vector<std::string>& classes() const;
  [[nodiscard]] std::int64_t features() const;
  [[nodiscard]] std::int64_t rows() const;  // learnt or waiting
  [[nodiscard]] std::int64_t rounds() const;
  [[nodiscard]] double outer_loss() const;  // of the last round; not finite: the model diverged
  [[nodiscard]] std::vector<FitHyperparameter> hyperparameters() const;

  // Of the L2 of the features, where each has its own and there are any: the least, the one in the middle, the largest.
  struct Penalties {
    double min = 0, middle = 0, max = 0;
    bool operator==(const Penalties&) const = default;
  };
  [[nodiscard]] std::optional<Penalties> penalties() const;

  // A weight as it stands: of which group, of which feature where it has a name or number, for which class.
  struct Weight {
    std::uint64_t key = 0;
    std::int32_t group = 0, output = 0;
    double value = 0;
  };
  [[nodiscard]] std::vector<Weight> top_weights(std::size_t count) const;
  [[nodiscard]] std::vector<double> constants() const;  // one an output
  [[nodiscard]] const std::vector<std::string>& groups() const;
  [[nodiscard]] std::vector<std::string> columns(bool numbers) const;  // of numbers, or of categories

  void fields(Archive& a);        // everything: goes on to the same bits
  void model_fields(Archive& a);  // what predictions need
 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// By the labels of some rows: numbers if all are, and one of them is not whole or they are more than a hundred different ones.
[[nodiscard]] FitTask fit_task(std::span<const std::string> labels);

}  // namespace obolus
