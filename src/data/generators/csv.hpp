// Rows of generators as lines of CSV, piece by piece.
#pragma once

#include <string>

#include "obolus/data/generators.hpp"

namespace obolus {

[[nodiscard]] std::string csv_head(const Generator& generator);  // with a newline
// All columns but the class, each followed by a comma. Numbers have the fewest digits that read back the same.
void append_csv(const Generator& generator, const GeneratedRow& row, std::string& to);

}  // namespace obolus
