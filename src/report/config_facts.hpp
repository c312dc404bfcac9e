// What a report needs from a config: its names, where its stream changes, and how it differs from others. A config that
// cannot be read has no facts; it is still shown as text.
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
  // "section.key" → value, of what makes a run another run: not its seed, rounds or log.
  std::map<std::string, std::string> values;
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

// "alpha=0.1, tau=0.5": the values of `one` for the keys of these sections whose values are not the same in all of
// `others`.
[[nodiscard]] std::string differences(const ConfigFacts& one, const std::vector<const ConfigFacts*>& others,
                                      const std::vector<std::string>& sections);

}  // namespace obolus
