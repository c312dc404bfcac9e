// Unpacks zstd: frames one after another, each with its checksum, if any, verified.
#pragma once

#include <memory>
#include <string>

#include "obolus/data/rows.hpp"

namespace obolus {

// Its DataErrors begin with `name`.
[[nodiscard]] std::unique_ptr<ByteSource> zstd_bytes(std::unique_ptr<ByteSource> packed, const std::string& name);

}  // namespace obolus
