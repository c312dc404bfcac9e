// What a report needs to know of a config: what it is called by, where its stream changes, and in what it differs from others. A config that
// cannot be read has no facts; it is shown as text all the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

struct DriftMark {
  Round t;
  std::string text;
};

struct ConfigFacts {
  std::string problem, optimiser;
  std::int64_t seed = 0;
  std::map<std::string, std::string>
      values;  // "section.key" → value, of what makes a run another run: no seed, rounds or log
};

// Of a run's complete config.
[[nodiscard]] ConfigFacts facts_of_run(const std::string& config);

struct ComparisonFacts {
  std::string rank_by, rank = "least";
  struct Stream {
    std::string problem;
    std::vector<DriftMark> marks;
  };
  std::map<std::string, Stream> streams;
};

[[nodiscard]] ComparisonFacts facts_of_comparison(const std::string& config, Round horizon);
[[nodiscard]] std::vector<DriftMark> drift_marks(const std::string& run_config, Round horizon);

// "alpha=0.1, tau=0.5": the values of `one` for keys that start with one of the sections and are not alike in all of `others`.
[[nodiscard]] std::string differences(const ConfigFacts& one, const std::vector<const ConfigFacts*>& others,
                                      const std::vector<std::string>& sections);

}  // namespace obolus
