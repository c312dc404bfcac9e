// The report's page: built from web/ and part of this program.
#pragma once

#include <string>
#include <string_view>

namespace obolus::cli {

// Throws ConfigError if the program was built without it.
[[nodiscard]] std::string_view page();

// The page with its data in place: deflated and in base64, so that none of it can be taken for HTML.
[[nodiscard]] std::string page_with(std::string_view data);
// The page that asks its server for the data, and what a browser must let it do.
[[nodiscard]] std::string live_page();
inline constexpr const char* live_page_policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace obolus::cli
