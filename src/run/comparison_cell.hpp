// The jobs of a comparison: a run of an optimiser, or the variation of a stream.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "run/comparison_plan.hpp"
#include "run/experiment_parts.hpp"

namespace obolus {

// A job asks it between two rounds.
struct StopToken {
  const std::atomic<bool>& stop;
  const std::atomic<bool>* pause = nullptr;

  // Does not return while paused.
  [[nodiscard]] bool stop_requested() const;
};

// The runs of a cell, the largest horizon first. A shorter horizon has a run of its own only when its options differ: a
// preset's may depend on the horizon. Otherwise it is the beginning of the longest run.
[[nodiscard]] std::vector<std::unique_ptr<Experiment::Parts>> cell_runs(const ComparisonPlan& plan,
                                                                        const ComparisonPlan::Cell& cell);

// Nothing when stopped.
[[nodiscard]] std::optional<CellResult> run_cell(const ComparisonPlan& plan, const ComparisonPlan::Cell& cell,
                                                 const StopToken& token);

// V_T and the other variations at each horizon; they do not depend on the optimiser.
[[nodiscard]] std::optional<std::vector<VariationSummary>> measure_stream(const ComparisonPlan& plan,
                                                                          const ComparisonPlan::Cell& cell,
                                                                          const StopToken& token);

}  // namespace obolus
