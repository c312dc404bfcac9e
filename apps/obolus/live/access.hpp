// Who may look: on this machine whoever asks for it by a name of its own, from elsewhere whoever has the token.
#pragma once

#include <string>

#include "live/address.hpp"

namespace obolus::cli {

class LiveAccess {
 public:
  // Throws ConfigError for a host that is not known.
  explicit LiveAccess(const LiveAddress& address);

  [[nodiscard]] const std::string& host() const { return host_.number; }  // to listen on
  [[nodiscard]] std::string url(int port) const;
  [[nodiscard]] bool by_token() const { return !token_.empty(); }
  [[nodiscard]] bool opens(const std::string& token) const;
  // The Host header of a request. A page of another site, whose name points here by now, sends that name.
  [[nodiscard]] bool is_here(const std::string& header) const;
  [[nodiscard]] const char* expected() const;  // what to say to others

 private:
  ResolvedHost host_;
  std::string token_;
};

}  // namespace obolus::cli
