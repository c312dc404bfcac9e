// Rows from a file or standard input ("-"), packed with gzip or zstd or not: the content tells, not the name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "obolus/data/rows.hpp"

namespace obolus {

// What `bytes` are when they are unpacked, or they themselves.
[[nodiscard]] std::unique_ptr<ByteSource> unpacked_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name);

[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::string& path, const RowOptions& options = {});

// One after the other, as one stream: chained_rows. That they can all be read is checked first.
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::vector<std::string>& paths,
                                                   const RowOptions& options = {});

}  // namespace obolus
