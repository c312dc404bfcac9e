// Rows of several files, one file after another, as if they were one: what is automatic is decided by the first file
// and kept (the index base, which columns are numeric), groups keep their numbers, and bad rows are counted together.
// Delimiter and header are detected per file; columns have the same names, in any order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus {

// Returns one of this library's readers.
using RowOpener = std::function<std::unique_ptr<RowReader>(const std::string& path, const RowOptions& options)>;

// A file is opened when the one before it ends. Throws ConfigError if there are no files.
[[nodiscard]] std::unique_ptr<RowReader> chained_rows(std::vector<std::string> paths, const RowOptions& options,
                                                      RowOpener open);

}  // namespace obolus
