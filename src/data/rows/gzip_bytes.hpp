// What gzip packed, members one behind the other, each with its checksum and length compared.
#pragma once

#include <memory>
#include <string>

#include "obolus/data/rows.hpp"

namespace obolus {

// A DataError of theirs begins with `name`. Zeros may stand behind the last member, as tapes leave them; nothing else.
[[nodiscard]] std::unique_ptr<ByteSource> gzip_bytes(std::unique_ptr<ByteSource> packed, const std::string& name);

}  // namespace obolus
