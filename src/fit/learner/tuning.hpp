// From the words of `tune` to hyperparameters.
#pragma once

#include "fit/model/hyperparameters.hpp"
#include "obolus/fit/options.hpp"

namespace obolus::fit {

struct Tuning {
  Hyperparameters hyperparameters;
  bool per_group = false;    // an L2 for every group of features
  bool per_feature = false;  // an L2 for every feature
  bool optimised = false;    // and a registered optimiser moves it
  bool classes = false;      // shifts or scales of classes
};

// Throws ConfigError for words that are unknown or exclude each other. `classes`: how many, when they are fixed.
[[nodiscard]] Tuning tuning_of(const FitOptions& options, std::size_t classes);

}  // namespace obolus::fit
