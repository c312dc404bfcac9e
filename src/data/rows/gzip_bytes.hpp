// Unpacks gzip: members one after another, each with its checksum and length verified.
#pragma once

#include <memory>
#include <string>

#include "obolus/data/rows.hpp"

namespace obolus {

// Its DataErrors begin with `name`. Only zeros may follow the last member, as tapes leave them.
[[nodiscard]] std::unique_ptr<ByteSource> gzip_bytes(std::unique_ptr<ByteSource> packed, const std::string& name);

}  // namespace obolus
