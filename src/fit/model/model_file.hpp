// Models in files: a header with version, size and checksum, then options and what predictions need, field by field.
// Reading one executes nothing and checks everything.
#pragma once

#include <string>

#include "obolus/fit/fit.hpp"

namespace obolus::fit {

[[nodiscard]] std::string model_bytes(Fit& fit);
// `name` stands for the bytes in errors.
[[nodiscard]] Fit model_from(const std::string& bytes, const std::string& name);

void save_model(const std::string& path, Fit& fit);
// Throws DataError for a file that is not a model, is damaged, or has a version that this program does not know.
[[nodiscard]] Fit load_model(const std::string& path);

}  // namespace obolus::fit
