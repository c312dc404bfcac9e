// Rows of several files, one file after the other, as if they were one: what is automatic is decided by the first and
// kept (the index base, which columns are numeric), groups keep their numbers, bad rows are counted together. Format,
// delimiter and header are told for each file; columns have the same names, in any order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus {

// Gives a reader of this library's own.
using RowOpener = std::function<std::unique_ptr<RowReader>(const std::string& path, const RowOptions& options)>;

// A file is opened when the one before is at its end. Throws ConfigError if there are none.
[[nodiscard]] std::unique_ptr<RowReader> chained_rows(std::vector<std::string> paths, const RowOptions& options,
                                                      RowOpener open);

}  // namespace obolus
