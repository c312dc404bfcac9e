// A fit of a stream with everything around it: a folder with trace, model, checkpoint and summary, predictions, and
// callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fit/stream/fit_evaluation.hpp"
#include "fit/stream/row_source.hpp"
#include "fit/stream/shadows.hpp"
#include "obolus/core/options.hpp"
#include "obolus/data/rows.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus::fit {

struct FitLogOptions {
  std::int64_t checkpoint_every = 0;
  double checkpoint_seconds = 30.0;
  std::int64_t trace_every = 1;

  template <class V>
  void describe(V&& v) {
    v("checkpoint_every", checkpoint_every, "rows between checkpoints; 0: by the clock only", Range::at_least(0));
    v("checkpoint_seconds", checkpoint_seconds, "seconds between checkpoints", Range::positive());
    v("trace_every", trace_every, "write every Nth round to the trace", Range::at_least(1));
  }
};

// What callbacks are told after every row.
struct FitView {
  std::int64_t rows = 0;
  const Prediction* prediction = nullptr;  // of this row
  const DataRow* row = nullptr;
  const FitEvaluation* evaluation = nullptr;
  const Fit* fit = nullptr;
  std::string_view alarm;
};

struct FitSummary;

// What callbacks are told of a line of the trace.
struct FitTraceLine {
  const std::string& text;                    // with its end of line
  bool evaluated, alarm;                      // it has metrics, or an alarm
  const std::function<FitSummary()>& so_far;  // costs a pass over the weights and the window
};

struct FitRunOptions {
  FitOptions fit;
  EvaluationOptions evaluation;
  FitLogOptions log;
  std::string source;          // the data and how it is read, as lines of TOML for the echo
  std::string directory;       // empty: nothing is written
  std::string model;           // one more place for the model; empty: none
  std::int64_t rows = 0;       // at most so many; 0: all
  std::uint64_t skip_bad = 0;  // bad labels count with what the reader skipped
  bool resume = false, force = false;
  bool can_resume = true;  // the data can be read again
  int threads = 2;
  std::string about;
  std::vector<FitPathPoint> path;  // to be followed, if any
  std::string predictions;         // a file with one line per row; empty: none
  bool probabilities = false;
  std::function<void(const FitView&)> on_row;
  std::function<void(const FitView&)> on_end;  // the last row's once more, without the row
  std::function<void(const FitTraceLine&)> on_trace;
  Stop stop;  // asked after every row
};

enum class FitStatus : std::uint8_t { finished, stopped, diverged, running };

struct NamedWeight {
  std::string feature, output;
  double value = 0;
};

// Numeric columns are known by name, other features by the number that the rows had, or by their hash.
[[nodiscard]] std::vector<NamedWeight> largest_weights(const Fit& fit, std::size_t count);
[[nodiscard]] std::string output_name(const Fit& fit, std::int32_t output);

struct FitSummary {
  FitStatus status = FitStatus::finished;
  std::int64_t rows = 0, rounds = 0, features = 0, alarms = 0;
  std::int64_t batch = 0;                                     // rows of a round
  std::vector<std::pair<std::string, std::string>> settings;  // options that differ from their defaults
  std::uint64_t skipped = 0;
  std::string first_skipped;
  FitTask task = FitTask::classes;
  std::vector<std::string> classes;
  std::vector<std::pair<std::string, double>> prequential, window;
  LastWindow last_window;
  std::vector<NamedWeight> weights;  // the largest
  std::vector<FitHyperparameter> hyperparameters;
  std::optional<Fit::Penalties> penalties;  // by feature
  std::optional<Fit::Shares> shares;
  std::vector<Shadows::Result> shadows;
  double seconds = 0, seconds_learning = 0;

  [[nodiscard]] const char* name() const;  // of the status
  [[nodiscard]] std::string json() const;
};

// For people.
[[nodiscard]] std::string text_of(const Fit::Penalties& penalties);
[[nodiscard]] std::string text_of(const Fit::Shares& shares);

// The echo that a run folder holds.
[[nodiscard]] std::string fit_config(const FitRunOptions& options);

// `open` gives the rows from the first on; `validation` those that only judge hyperparameters, if there are any: they
// are kept in memory. Where rows cannot be read again, `open` is called by a thread that may outlive the call. Throws
// ConfigError and DataError.
[[nodiscard]] FitSummary run_fit(FitRunOptions options, const OpenRows& open,
                                 std::unique_ptr<RowReader> validation = nullptr);

}  // namespace obolus::fit
