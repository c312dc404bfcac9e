// The tables of a comparison's tables.md, as cells.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace obolus {

// [{title, header, align, rows}, …]; align has one 'l' or 'r' per column.
[[nodiscard]] nlohmann::ordered_json markdown_tables(const std::string& text);

}  // namespace obolus
