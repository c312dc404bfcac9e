// Rows from a file or standard input ("-"), plain or packed with gzip or zstd: the content tells, not the name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus {

// Unpacks `bytes` if they are packed.
[[nodiscard]] std::unique_ptr<ByteSource> unpacked_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name);

[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::string& path, const RowOptions& options = {});

// One after another, as one stream (chained_rows). Checks first that all of them can be read.
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::vector<std::string>& paths,
                                                   const RowOptions& options = {});

}  // namespace obolus
