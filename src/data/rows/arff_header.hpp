#pragma once

#include <vector>

#include "data/rows/column_rows.hpp"

namespace obolus {

struct ArffAttribute {
  Column column;
  std::string first_value;  // of a nominal attribute: what a sparse row means if it leaves it out
};

// Up to and including @data. Throws DataError.
[[nodiscard]] std::vector<ArffAttribute> arff_header(LineSource& lines);

}  // namespace obolus
