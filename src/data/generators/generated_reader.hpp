// A reader of generated rows, with columns as in a CSV file. It has no end.
#pragma once

#include <memory>

#include "obolus/data/generators.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {

[[nodiscard]] std::unique_ptr<RowReader> read_generated(const GeneratorOptions& options);

}  // namespace obolus
