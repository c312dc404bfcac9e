// The user's own rows behind `softmax_l2`.
#pragma once

#include <string>

#include "obolus/problems/softmax_options.hpp"

namespace obolus {

// All rows of a file in any format of rows.hpp, kept in memory and in order; every tenth is for tests. Columns of
// numbers are standardised over the file; other values stay as they are. Throws DataError.
[[nodiscard]] LabelledRows rows_of_file(const std::string& path);

}  // namespace obolus
