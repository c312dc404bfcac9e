// Rows of generators as lines of CSV, piece by piece.
#pragma once

#include <string>

#include "obolus/data/generators.hpp"

namespace obolus {

[[nodiscard]] std::string csv_head(const Generator& generator);  // with its line end
// All columns but the class, each with a comma behind it. Numbers have the fewest digits that give them back.
void append_csv(const Generator& generator, const GeneratedRow& row, std::string& to);

}  // namespace obolus
