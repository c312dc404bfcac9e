// Dates in mails and in newswire, as seconds since 1970, UTC.
#pragma once

#include <optional>
#include <string_view>

namespace obolus {

// RFC 2822: "Thu, 22 Aug 2002 13:17:21 +0100 (IST)". The day of the week, the seconds and the zone may be absent; an
// unknown zone counts as UTC, as the RFC says.
[[nodiscard]] std::optional<double> mail_date(std::string_view text);

// "26-FEB-1987 15:01:01.79", blanks around its two parts.
[[nodiscard]] std::optional<double> wire_date(std::string_view text);

}  // namespace obolus
