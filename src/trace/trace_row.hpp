// One round of a run as its trace has it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "obolus/core/types.hpp"

namespace obolus {

struct TraceRow {
  struct Number {
    std::string name;
    double value = 0;
    bool evaluation = false;  // a member of the row's "evaluation"
  };
  // Hyperparameters: x_values, or x_quantiles with the size of x in x_size.
  struct Hyperparameters {
    Index size = 0;
    bool quantiles = false;
    std::vector<double> numbers;
  };

  Round t = 0;
  std::vector<Number> numbers;  // in the order of the line, without t; true and false as 1 and 0
  std::optional<Hyperparameters> x;
  std::string alarm = {};  // the detector that reports drift; empty: none
};

}  // namespace obolus
