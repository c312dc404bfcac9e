// A comparison, read and checked: its plan and its jobs.
#pragma once

#include <vector>

#include "obolus/run/comparison.hpp"
#include "run/cell_log.hpp"
#include "run/comparison_plan.hpp"

namespace obolus {

struct Comparison::Parts {
  struct Job {
    ComparisonPlan::Cell cell;
    JobName name;
    [[nodiscard]] bool measures_stream() const { return name.optimiser.empty(); }
  };

  ComparisonPlan plan;
  std::vector<Job> jobs;  // the streams first, one a seed, then the cells
  bool has_regret = true;

  Parts(const std::string& text, const std::string& source, const std::string& folder);
  // In the order of `jobs`.
  [[nodiscard]] ComparisonResult assemble(std::vector<JobRecord> records) const;

 private:
  void add_streams();
  void add_cells();
};

}  // namespace obolus
