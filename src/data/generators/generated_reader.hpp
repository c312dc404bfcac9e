// Generated rows as a reader of them: columns as in a CSV file, without the file.
#pragma once

#include <memory>

#include "obolus/data/generators.hpp"
#include "obolus/data/rows.hpp"

namespace obolus {

// There is no end.
[[nodiscard]] std::unique_ptr<RowReader> read_generated(const GeneratorOptions& options);

}  // namespace obolus
