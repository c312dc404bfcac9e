// Models in files: a header with version, size and checksum, then options and what predictions need, field by field. Reading one
// executes nothing and believes nothing.
#pragma once

#include <string>

#include "obolus/fit/fit.hpp"

namespace obolus::fit {

void save_model(const std::string& path, Fit& fit);
// Throws DataError for what is no model, is damaged, or is of a version that this program does not know.
[[nodiscard]] Fit load_model(const std::string& path);

}  // namespace obolus::fit
