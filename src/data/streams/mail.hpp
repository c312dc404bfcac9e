// The parts of a raw mail that a row needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace obolus {

struct Mail {
  std::string subject, from, body;
  std::optional<double> received;  // by the clock of the last host on its way, or else of its sender
};

// Headers are unfolded, and the first of each name counts. Nothing is decoded; lines of at least 60 characters that
// look like base64, as in attachments, are left out of the body.
[[nodiscard]] Mail mail_of(std::string_view text);

}  // namespace obolus
