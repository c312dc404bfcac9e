// What zstd packed, frames one behind the other, each with its checksum compared if it has one.
#pragma once

#include <memory>
#include <string>

#include "obolus/data/rows.hpp"

namespace obolus {

// A DataError of theirs begins with `name`.
[[nodiscard]] std::unique_ptr<ByteSource> zstd_bytes(std::unique_ptr<ByteSource> packed, const std::string& name);

}  // namespace obolus
