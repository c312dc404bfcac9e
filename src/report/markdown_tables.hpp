// The tables of a comparison's tables.md, as cells.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace obolus {

// [{title, header, align, rows}, …]; align has 'l' or 'r' a column.
[[nodiscard]] nlohmann::ordered_json markdown_tables(const std::string& text);

}  // namespace obolus
