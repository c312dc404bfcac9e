// The jobs of a comparison: one run of one optimiser, and what one stream does by itself.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "run/comparison_plan.hpp"
#include "run/experiment_parts.hpp"

namespace obolus {

// What a job asks between two rounds.
struct Halt {
  const std::atomic<bool>& stop;
  const std::atomic<bool>* pause = nullptr;

  // Whether to stop; while paused it does not return.
  [[nodiscard]] bool asked() const;
};

// The runs of a cell, the largest horizon first. A shorter one has its own run only when its options differ: those of a
// preset may depend on the horizon. Otherwise it is the beginning of the longest.
[[nodiscard]] std::vector<std::unique_ptr<Experiment::Parts>> cell_runs(const ComparisonPlan& plan,
                                                                        const ComparisonPlan::Cell& cell);

// Nothing when stopped.
[[nodiscard]] std::optional<CellResult> run_cell(const ComparisonPlan& plan, const ComparisonPlan::Cell& cell,
                                                 const Halt& halt);

// V_T and its kin at each horizon; they do not depend on the optimiser.
[[nodiscard]] std::optional<std::vector<VariationSummary>> measure_stream(const ComparisonPlan& plan,
                                                                          const ComparisonPlan::Cell& cell,
                                                                          const Halt& halt);

}  // namespace obolus
