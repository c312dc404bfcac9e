// A whole run from a config text: problem, optimiser, domain, metrics and log, as the command line uses it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "obolus/core/preset.hpp"
#include "obolus/metrics/bound.hpp"
#include "obolus/metrics/reference_steps.hpp"
#include "obolus/metrics/row.hpp"
#include "obolus/metrics/variation.hpp"
#include "obolus/metrics/window_regret.hpp"
#include "obolus/optimisers/condition.hpp"
#include "obolus/run/profile.hpp"
#include "obolus/run/run_end.hpp"

namespace obolus {

struct RunSummary {
  std::string problem, optimiser;
  RunEnd end;
  Round horizon = 0;
  Row last;       // of the last finished round
  Row measured;   // of the last measured one: the same when the run finished
  Row evaluated;  // of the last evaluated one: the same when the run finished and the problem evaluates
  bool has_regret = true;
  double regret = 0;  // so far; estimated where not every round is measured
  double regret_gamma = 0;
  bool closed_form = true;     // the regret's hypergradients rest on a closed-form inner solution
  std::int64_t untrusted = 0;  // rounds whose reference hypergradient did not reach its tolerance
  std::int64_t left_out = 0;   // of those, rounds that the regret leaves out: no usable hypergradient
  std::optional<WindowSums> window;
  bool convex = true;        // the inner problem is strongly convex, as the theory requires
  ReferenceSteps reference;  // how its hypergradients were found where it has no closed form
  std::int64_t inner_steps = 0, capped_rounds = 0;
  std::int64_t indefinite_rounds = 0;             // in which a linear system met negative curvature
  double max_distance_y = 0, max_distance_z = 0;  // certified by the residuals, when μ_g is known
  std::optional<VariationSummary> variation;
  Preset preset = Preset::standard;
  std::optional<Constants> constants;
  std::vector<Condition> conditions;     // of the theorem, for a finished run whose constants are known
  std::optional<Bound> bound;            // of the regret
  std::optional<Bound> iteration_bound;  // of inner_steps
  Distribution x;                        // after the last finished round

  [[nodiscard]] std::string json() const;
};

struct RunControl {
  std::string directory;  // empty: nothing is written
  bool resume = false;    // continue from the directory's checkpoint
  bool force = false;     // replace an existing run
  int threads = 1;
  std::vector<Round> evaluated;                    // rounds to evaluate besides those of [metrics], in increasing order
  std::function<void(const Profile&)> on_profile;  // before on_row, for some of the rounds
  std::function<bool(const Row&)> on_row;          // false: save and stop after this round
  std::function<void(const Vector<double>& x, const Vector<double>& y)> on_end;  // what the next round would commit
  std::string about;  // a line for the folder's about.jsonl: who runs this, where and when
};

class Experiment {
 public:
  // `source` names the text in errors; relative paths in it start from `folder`. Overrides are "section.key=value".
  Experiment(const std::string& text, const std::string& source, const std::string& folder,
             const std::vector<std::string>& overrides = {});
  static Experiment load(const std::string& path, const std::vector<std::string>& overrides = {});
  Experiment(Experiment&&) noexcept;
  Experiment& operator=(Experiment&&) noexcept;
  ~Experiment();

  [[nodiscard]] std::string config() const;  // complete: reproduces the run
  [[nodiscard]] Round rounds() const;
  [[nodiscard]] const std::string& problem() const;  // their names
  [[nodiscard]] const std::string& optimiser() const;
  [[nodiscard]] std::int64_t seed() const;
  // The theorem's conditions, when the options come from the theory: options that the user changed may violate them.
  [[nodiscard]] std::vector<Condition> theory_conditions() const;
  [[nodiscard]] RunSummary run(const RunControl& control) const;
  // Differences, products, hypergradient and convexity on samples, one line per finding.
  struct CheckLine {
    std::string what;
    bool ok;
    double error, tolerance;
    std::string where;
  };
  [[nodiscard]] std::vector<CheckLine> check() const;

  struct Parts;  // the resolved config; private to the library
  explicit Experiment(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace obolus
