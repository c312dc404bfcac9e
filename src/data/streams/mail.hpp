// What a row needs of a mail as it came over the wire.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace obolus {

struct Mail {
  std::string subject, from, body;
  std::optional<double> received;  // by the clock of the last host on its way, or else by its sender's
};

// Headers are unfolded, and the first of a name counts. Nothing is decoded; lines that look like base64, 60 characters or more, are
// left out of the body: attachments.
[[nodiscard]] Mail mail_of(std::string_view text);

}  // namespace obolus
