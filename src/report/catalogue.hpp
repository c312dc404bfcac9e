// The numbers of a row as the page shows them. web/src/contract.ts has the same in types.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace obolus {

// [{name, label, meaning, panel, scale}, …] in the order of `row_columns`.
[[nodiscard]] nlohmann::ordered_json catalogue_json();

}  // namespace obolus
