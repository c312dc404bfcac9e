// How a run ended.
#pragma once

#include <cstdint>
#include <string>

#include "obolus/core/types.hpp"

namespace obolus {

enum class RunStatus : std::uint8_t { finished, stopped, diverged };

struct RunEnd {
  RunStatus status = RunStatus::finished;
  Round rounds = 0;      // done so far
  std::string quantity;  // what stopped being finite, when diverged
};

}  // namespace obolus
